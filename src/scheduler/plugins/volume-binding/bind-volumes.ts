/**
 * Writes the decision, and waits until the volume controller or a provisioner has bound the claims.
 *
 * 1. It sets the claimRef of matched volumes and the selected-node annotation of claims to be provisioned, each against
 *    the resourceVersion that the decision was based on.
 * 2. It succeeds when all claims are bound. It fails if a binding is reset, the provisioner gives up (it removes the
 *    annotation), the volume is not accessible from the node, the Pod or the node is deleted, or the timeout is over.
 * 3. Claims and volumes are watched. Pod and node are checked once a second.
 */
import { kinds } from "#api";
import { type Clock, childController } from "#base";
import { type Client, type Informers, objectKey, revisionOf } from "#client";
import type { ClusterView, PodInfo } from "../../framework/index.ts";
import { isBound, SELECTED_NODE, type Volume } from "../volume-objects.ts";
import type { NodeVolumes } from "./find-volumes.ts";
import type { BindingObjects, VolumeNode } from "./volume-access.ts";

export interface BindContext {
  readonly client: Client;
  readonly informers: Informers;
  readonly view: ClusterView;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** The API server's state, without assumptions. */
  readonly objects: BindingObjects;
}

const POLL_MS = 1_000;

/** Throws the reason if it fails. */
export async function bindVolumes(
  decided: NodeVolumes,
  pod: PodInfo,
  node: string,
  context: BindContext,
  signal: AbortSignal,
): Promise<void> {
  const written = await write(decided, context, signal);
  const look = () => {
    try {
      return progress(written, pod, node, context);
    } catch (error) {
      throw new Error(`binding volumes: ${(error as Error).message}`, { cause: error });
    }
  };
  await untilBound(look, context, signal);
}

async function write(
  { matches, toProvision }: NodeVolumes,
  { client }: BindContext,
  signal: AbortSignal,
): Promise<NodeVolumes> {
  const bound = [];
  for (const { claim, volume } of matches)
    bound.push({ claim, volume: await client.of(kinds.PersistentVolume).update(volume, { signal }) });
  const asked = [];
  for (const claim of toProvision)
    asked.push(
      await client
        .of(kinds.PersistentVolumeClaim)
        .in(claim.metadata.namespace ?? "")
        .update(claim, { signal }),
    );
  return { matches: bound, toProvision: asked };
}

type Progress = "bound" | "waiting";

function progress({ matches, toProvision }: NodeVolumes, pod: PodInfo, name: string, context: BindContext): Progress {
  const { view, objects } = context;
  const node = view.nodeNamed(name);
  if (node === undefined) throw new Error(`failed to get node "${name}": node "${name}" not found`);
  if (!node.pods.has(pod.uid)) throw new Error(`pod does not exist any more: pod "${pod.name}" not found`);
  for (const { claim, volume: written } of matches) {
    const volume = objects.volume(written.metadata.name ?? "");
    if (volume === undefined)
      throw new Error(`failed to check binding: persistentvolume "${written.metadata.name}" not found`);
    if (revisionOf(volume) < revisionOf(written)) return "waiting";
    checkAccessible(volume, node, objects);
    if ((volume.spec?.claimRef?.uid ?? "") === "")
      throw new Error(`ClaimRef got reset for pv "${volume.metadata.name}"`);
    const bound = objects.claim(objectKey(claim));
    if (bound === undefined)
      throw new Error(`failed to check binding: persistentvolumeclaim "${claim.metadata.name}" not found`);
    if (!isBound(bound)) return "waiting";
  }
  for (const written of toProvision) {
    const claim = objects.claim(objectKey(written));
    const { name: claimName } = written.metadata;
    if (claim === undefined)
      throw new Error(`failed to check provisioning pvc: persistentvolumeclaim "${claimName}" not found`);
    if (revisionOf(claim) < revisionOf(written)) return "waiting";
    if (claim.metadata.annotations?.[SELECTED_NODE] !== name)
      throw new Error(`provisioning failed for PVC "${claimName}"`);
    const volumeName = claim.spec?.volumeName ?? "";
    const volume = volumeName === "" ? undefined : objects.volume(volumeName);
    if (volume !== undefined) checkAccessible(volume, node, objects);
    if (volume === undefined || !isBound(claim)) return "waiting";
  }
  return "bound";
}

function checkAccessible(volume: Volume, node: VolumeNode, { isAccessible }: BindingObjects): void {
  if (!isAccessible(volume, node))
    throw new Error(
      `pv "${volume.metadata.name}" node affinity doesn't match node "${node.name}": no matching NodeSelectorTerms`,
    );
}

async function untilBound(look: () => Progress, context: BindContext, signal: AbortSignal): Promise<void> {
  const { informers, clock, timeoutMs } = context;
  if (look() === "bound") return;
  using ending = childController(signal);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const again = () => {
    try {
      if (look() === "bound") resolve();
    } catch (error) {
      reject(error);
    }
  };
  const leaves = [
    informers.of(kinds.PersistentVolumeClaim).onChange(again),
    informers.of(kinds.PersistentVolume).onChange(again),
  ];
  const late = clock.timer(timeoutMs, () => reject(new Error("binding volumes: context deadline exceeded")));
  const looking = poll(again, clock, ending.signal);
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    await promise;
  } finally {
    signal.removeEventListener("abort", stop);
    late.cancel();
    for (const leave of leaves) leave();
    ending.abort(new Error("binding volumes has ended"));
    await looking;
  }
}

async function poll(look: () => void, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await clock.sleep(POLL_MS, signal);
    } catch {
      // Polling was stopped.
      return;
    }
    look();
  }
}
