/**
 * What a volume is restored from: for the provisioner, whose claim names a VolumeSnapshot as its source.
 *
 * A snapshot counts only if it and its content refer to each other: else a user could read a snapshot of another
 * namespace by naming its content in a VolumeSnapshot of their own.
 */
import type { Int64 } from "#api";
import type { VolumeSnapshot, VolumeSnapshotContent } from "./objects/kinds.ts";
import { writtenNode } from "./objects/names.ts";
import { isDeleted, keyOfObject, refersTo } from "./objects/state.ts";

export interface RestoreSource {
  readonly snapshotHandle: string;
  /** The least size of the volume; undefined if the driver does not know it. */
  readonly restoreSizeBytes: Int64 | undefined;
  /** The node that has the snapshot, if its driver has a controller on each node. */
  readonly node: string | undefined;
  /** Filesystem or Block; undefined if it is not known. */
  readonly sourceVolumeMode: string | undefined;
}

export type Restorable =
  | { readonly ok: true; readonly source: RestoreSource }
  /** `isFinal`: it does not help to wait. */
  | { readonly ok: false; readonly reason: string; readonly isFinal: boolean };

/** `content`: the one that the status of the snapshot names. `driver`: the driver of the claim's class. */
export function restoreSource(
  snapshot: VolumeSnapshot | undefined,
  content: VolumeSnapshotContent | undefined,
  driver: string,
): Restorable {
  const waits = (reason: string): Restorable => ({ ok: false, reason, isFinal: false });
  if (snapshot === undefined) return waits("the VolumeSnapshot does not exist");
  const key = keyOfObject(snapshot);
  if (isDeleted(snapshot)) return { ok: false, reason: `snapshot ${key} is currently being deleted`, isFinal: true };
  const { boundVolumeSnapshotContentName: name = "", readyToUse } = snapshot.status ?? {};
  if (name === "") return waits(`snapshot ${key} is not bound to a VolumeSnapshotContent`);
  if (content === undefined || content.metadata.name !== name)
    return waits(`the VolumeSnapshotContent ${name} of snapshot ${key} does not exist`);
  const { volumeSnapshotRef, driver: owner, sourceVolumeMode } = content.spec;
  if (!refersTo(volumeSnapshotRef, snapshot))
    return { ok: false, reason: `snapshotContent ${name} is bound to a different snapshot than ${key}`, isFinal: true };
  if (owner !== driver) {
    const reason = `the snapshot ${key} was made by the driver ${owner}, not by ${driver}`;
    return { ok: false, reason, isFinal: true };
  }
  if (readyToUse !== true) return waits(`snapshot ${key} is not Ready`);
  const { snapshotHandle, restoreSize } = content.status ?? {};
  if (snapshotHandle === undefined) return waits(`snapshot handle ${key} is not available`);
  const node = writtenNode(content);
  return { ok: true, source: { snapshotHandle, restoreSizeBytes: restoreSize, node, sourceVolumeMode } };
}
