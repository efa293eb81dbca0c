/** What the snapshot controller reads, as functions over its caches. */
import type { core } from "#api";
import type { VolumeGroupSnapshot } from "../objects/group-kinds.ts";
import type { VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent } from "../objects/kinds.ts";

export interface SnapshotLookups {
  content(name: string): VolumeSnapshotContent | undefined;
  snapshot(key: string): VolumeSnapshot | undefined;
  class(name: string): VolumeSnapshotClass | undefined;
  classes(): readonly VolumeSnapshotClass[];
  claim(key: string): core.PersistentVolumeClaim | undefined;
  volume(name: string): core.PersistentVolume | undefined;
  /** The snapshots with this claim as their source. */
  snapshotsOf(claimKey: string): readonly VolumeSnapshot[];
  /** A claim that names this snapshot as its source has no volume yet. */
  isRestoring(snapshotKey: string): boolean;
  group(key: string): VolumeGroupSnapshot | undefined;
  /** The name of the group snapshot with this handle. */
  groupNameOf(handle: string): string | undefined;
}
