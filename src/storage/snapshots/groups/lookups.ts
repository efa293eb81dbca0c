/** What the controller of group snapshots reads, as functions over its caches. */
import type { core, LabelSelector } from "#api";
import type {
  VolumeGroupSnapshot,
  VolumeGroupSnapshotClass,
  VolumeGroupSnapshotContent,
} from "../objects/group-kinds.ts";
import type { VolumeSnapshot, VolumeSnapshotContent } from "../objects/kinds.ts";
import type { Resolved } from "../objects/secret-reference.ts";

export interface GroupLookups {
  group(key: string): VolumeGroupSnapshot | undefined;
  content(name: string): VolumeGroupSnapshotContent | undefined;
  class(name: string): VolumeGroupSnapshotClass | undefined;
  classes(): readonly VolumeGroupSnapshotClass[];
  /** The claims of a namespace with these labels; an error for a selector that is none. */
  claims(namespace: string, selector: LabelSelector): Resolved<readonly core.PersistentVolumeClaim[]>;
  volume(name: string): core.PersistentVolume | undefined;
  volumeByHandle(driver: string, handle: string): core.PersistentVolume | undefined;
  member(key: string): VolumeSnapshot | undefined;
  memberContent(name: string): VolumeSnapshotContent | undefined;
  membersOf(groupKey: string): readonly VolumeSnapshot[];
  isRestoring(snapshotKey: string): boolean;
}
