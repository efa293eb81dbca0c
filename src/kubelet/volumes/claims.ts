/** The PersistentVolume of a claim, or of a generic ephemeral volume. */
import { type core, isStatusError, kinds } from "#api";
import type { Clock } from "#base";
import type { Client } from "#client";
import { VolumeError } from "./volume-error.ts";

export interface BoundVolume {
  readonly claim: core.PersistentVolumeClaim;
  readonly persistentVolume: core.PersistentVolume;
  readonly readOnly: boolean;
}

/** How long a claim may take to be shown as bound: the scheduler waits for its volume, not for its status. */
const BINDING_MS = 10_000;
const POLL_MS = 100;

class UnboundError extends VolumeError {}

/** The same as `boundVolume`, a little later if its claim is being bound. */
export async function boundVolumeSoon(
  client: Client,
  clock: Clock,
  pod: core.Pod,
  volume: core.Volume,
  signal: AbortSignal,
): Promise<BoundVolume | undefined> {
  const untilMs = clock.monotonic() + BINDING_MS;
  for (;;) {
    try {
      return await boundVolume(client, pod, volume, signal);
    } catch (error) {
      if (!(error instanceof UnboundError) || clock.monotonic() >= untilMs) throw error;
    }
    await clock.sleep(POLL_MS, signal);
  }
}

/** Undefined if the volume has no claim. */
export async function boundVolume(
  client: Client,
  pod: core.Pod,
  volume: core.Volume,
  signal: AbortSignal,
): Promise<BoundVolume | undefined> {
  const { namespace = "", name: podName = "", uid = "" } = pod.metadata;
  const isOwn = volume.ephemeral !== undefined;
  const claimName = isOwn ? `${podName}-${volume.name}` : volume.persistentVolumeClaim?.claimName;
  if (claimName === undefined) return undefined;
  const claim = await found(
    client.of(kinds.PersistentVolumeClaim).in(namespace).get(claimName, { signal }),
    `persistentvolumeclaim "${claimName}" not found`,
  );
  if (isOwn && !claim.metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.controller === true))
    throw new VolumeError(
      `PVC ${namespace}/${claimName} was not created for pod ${namespace}/${podName} (pod is not owner)`,
    );
  const { volumeName = "" } = claim.spec ?? {};
  if (claim.status?.phase !== "Bound" || volumeName === "") throw new UnboundError("PVC is not bound");
  const persistentVolume = await found(
    client.of(kinds.PersistentVolume).get(volumeName, { signal }),
    `persistentvolume "${volumeName}" not found`,
  );
  if (persistentVolume.spec?.claimRef?.uid !== claim.metadata.uid)
    throw new VolumeError(`PV ${volumeName} spec.claimRef.uid does not match PVC ${claimName}`);
  return { claim, persistentVolume, readOnly: volume.persistentVolumeClaim?.readOnly === true };
}

async function found<T>(reading: Promise<T>, missing: string): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (isStatusError(error) && error.reason === "NotFound") throw new VolumeError(missing, { cause: error });
    throw error;
  }
}
