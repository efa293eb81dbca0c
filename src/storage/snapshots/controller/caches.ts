/** The caches of the snapshot controller, with their indexes, as lookups. */
import { type core, kinds } from "#api";
import type { ControllerContext } from "#controllers";
import { groupKinds } from "../objects/group-kinds.ts";
import { SNAPSHOT_GROUP, snapshotKinds, type VolumeSnapshot } from "../objects/kinds.ts";
import { groupOwnerOf, isReady } from "../objects/state.ts";
import { claimKeyOf } from "./claims.ts";
import type { SnapshotLookups } from "./lookups.ts";

export interface SnapshotCaches extends SnapshotLookups {
  unready(): readonly VolumeSnapshot[];
  membersOf(groupKey: string): readonly VolumeSnapshot[];
}

/** `groups`: the kinds of group snapshots are served. */
export function snapshotCaches({ cache }: ControllerContext, groups: boolean): SnapshotCaches {
  const snapshots = cache(snapshotKinds.VolumeSnapshot);
  const contents = cache(snapshotKinds.VolumeSnapshotContent);
  const classes = cache(snapshotKinds.VolumeSnapshotClass);
  const claims = cache(kinds.PersistentVolumeClaim);
  const volumes = cache(kinds.PersistentVolume);
  const groupSnapshots = groups ? cache(groupKinds.VolumeGroupSnapshot) : undefined;
  const groupContents = groups ? cache(groupKinds.VolumeGroupSnapshotContent) : undefined;
  const byClaim = snapshots.index("claim", (each) => [claimKeyOf(each) ?? ""]);
  const unready = snapshots.index("unready", (each) => (isReady(each) ? [] : ["yes"]));
  const byGroup = snapshots.index("group", groupsOf);
  const restoring = claims.index("restoring", restoredFrom);
  const byHandle = groupContents?.index("handle", ({ status }) =>
    status?.volumeGroupSnapshotHandle === undefined ? [] : [status.volumeGroupSnapshotHandle],
  );
  return {
    content: (name) => contents.get(name),
    snapshot: (key) => snapshots.get(key),
    class: (name) => classes.get(name),
    classes: () => classes.list(),
    claim: (key) => claims.get(key),
    volume: (name) => volumes.get(name),
    snapshotsOf: byClaim,
    isRestoring: (key) => restoring(key).some(({ status }) => (status?.phase ?? "Pending") === "Pending"),
    group: (key) => groupSnapshots?.get(key),
    groupNameOf: (handle) => byHandle?.(handle)[0]?.spec.volumeGroupSnapshotRef.name,
    unready: () => unready("yes"),
    membersOf: byGroup,
  };
}

/** The keys of the snapshots that a claim is to be restored from. */
export function restoredFrom({ metadata, spec }: core.PersistentVolumeClaim): readonly string[] {
  const source = spec?.dataSource ?? spec?.dataSourceRef;
  if (source?.kind !== "VolumeSnapshot" || source.apiGroup !== SNAPSHOT_GROUP) return [];
  const { namespace = metadata.namespace } = spec?.dataSourceRef ?? {};
  return [`${namespace}/${source.name}`];
}

function groupsOf({ metadata, status }: VolumeSnapshot): readonly string[] {
  const names = [status?.volumeGroupSnapshotName, groupOwnerOf(metadata.ownerReferences)?.name];
  return [...new Set(names.filter((name) => name !== undefined))].map((name) => `${metadata.namespace}/${name}`);
}
