/**
 * Writes what was decided, and waits until the volume controller, or a provisioner, has done its part.
 *
 * 1. A volume gets the claim that it is for, a claim the node that a volume is to be made for: each against the revision that the decision was made from.
 * 2. It is over when all claims are bound. It has failed when the binding is undone, the provisioner gives up (it takes the node off the claim), the volume turns out
 *    not to be reached from the node, the Pod or the node is gone, or time is up.
 * 3. Claims and volumes tell when they change. Whether the Pod and the node are still there is looked up once a second.
 */
import { kinds } from "#api";
import { type Clock, childController } from "#base";
import { type Client, type Informers, objectKey, revisionOf } from "#client";
import type { ClusterView, PodInfo } from "../../framework/index.ts";
import { isBound, SELECTED_NODE, type VolumeObjects } from "../volume-objects.ts";
import type { NodeVolumes } from "./find-volumes.ts";
import { isReached, type VolumeNode } from "./reach.ts";

export interface BindContext {
  readonly client: Client;
  readonly informers: Informers;
  readonly view: ClusterView;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Without what is assumed. */
  readonly objects: VolumeObjects;
}

const LOOK_MS = 1_000;

/** Throws with the reason where it cannot be. */
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
  { matches, toMake }: NodeVolumes,
  { client }: BindContext,
  signal: AbortSignal,
): Promise<NodeVolumes> {
  const bound = [];
  for (const { claim, volume } of matches)
    bound.push({ claim, volume: await client.of(kinds.PersistentVolume).update(volume, { signal }) });
  const asked = [];
  for (const claim of toMake)
    asked.push(
      await client
        .of(kinds.PersistentVolumeClaim)
        .in(claim.metadata.namespace ?? "")
        .update(claim, { signal }),
    );
  return { matches: bound, toMake: asked };
}

type Progress = "bound" | "waiting";

function progress({ matches, toMake }: NodeVolumes, pod: PodInfo, name: string, context: BindContext): Progress {
  const { view, objects } = context;
  const node = view.nodeNamed(name);
  if (node === undefined) throw new Error(`failed to get node "${name}": node "${name}" not found`);
  if (!node.pods.has(pod.uid)) throw new Error(`pod does not exist any more: pod "${pod.name}" not found`);
  for (const { claim, volume: written } of matches) {
    const volume = objects.volume(written.metadata.name ?? "");
    if (volume === undefined)
      throw new Error(`failed to check binding: persistentvolume "${written.metadata.name}" not found`);
    if (revisionOf(volume) < revisionOf(written)) return "waiting";
    checkReached(volume, node);
    if ((volume.spec?.claimRef?.uid ?? "") === "")
      throw new Error(`ClaimRef got reset for pv "${volume.metadata.name}"`);
    const bound = objects.claim(objectKey(claim));
    if (bound === undefined)
      throw new Error(`failed to check binding: persistentvolumeclaim "${claim.metadata.name}" not found`);
    if (!isBound(bound)) return "waiting";
  }
  for (const written of toMake) {
    const claim = objects.claim(objectKey(written));
    const { name: claimName } = written.metadata;
    if (claim === undefined)
      throw new Error(`failed to check provisioning pvc: persistentvolumeclaim "${claimName}" not found`);
    if (revisionOf(claim) < revisionOf(written)) return "waiting";
    if (claim.metadata.annotations?.[SELECTED_NODE] !== name)
      throw new Error(`provisioning failed for PVC "${claimName}"`);
    const volumeName = claim.spec?.volumeName ?? "";
    const volume = volumeName === "" ? undefined : objects.volume(volumeName);
    if (volume !== undefined) checkReached(volume, node);
    if (volume === undefined || !isBound(claim)) return "waiting";
  }
  return "bound";
}

function checkReached(volume: Parameters<typeof isReached>[0], node: VolumeNode): void {
  if (!isReached(volume, node))
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
  const looking = lookNowAndThen(again, clock, ending.signal);
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    await promise;
  } finally {
    signal.removeEventListener("abort", stop);
    late.cancel();
    for (const leave of leaves) leave();
    ending.abort(new Error("bound, or given up"));
    await looking;
  }
}

async function lookNowAndThen(look: () => void, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await clock.sleep(LOOK_MS, signal);
    } catch {
      // The wait has ended because nobody waits any more.
      return;
    }
    look();
  }
}
