/** Members of a group that exists already get the group as their owner. */
import type { Plan } from "#controllers";
import { groupKinds, type VolumeGroupSnapshot } from "../objects/group-kinds.ts";
import { snapshotKinds, type VolumeSnapshot } from "../objects/kinds.ts";
import { groupOwnerOf } from "../objects/state.ts";
import { merged, oneStep } from "../objects/writes.ts";
import type { SnapshotLookups } from "./lookups.ts";

export function ownerReference({ metadata: { name = "", uid = "" } }: VolumeGroupSnapshot) {
  const { apiVersion, kind } = groupKinds.VolumeGroupSnapshot;
  return { apiVersion, kind, name, uid };
}

export function ownershipPlan(snapshot: VolumeSnapshot, lookups: Pick<SnapshotLookups, "group">): Plan | undefined {
  const { namespace, ownerReferences = [], resourceVersion } = snapshot.metadata;
  const { volumeGroupSnapshotName: name } = snapshot.status ?? {};
  if (name === undefined || groupOwnerOf(ownerReferences) !== undefined) return undefined;
  const group = lookups.group(`${namespace}/${name}`);
  if (group === undefined) return undefined;
  const owners = [...ownerReferences.map((each) => ({ ...each })), ownerReference(group)];
  const metadata = { ownerReferences: owners, ...(resourceVersion && { resourceVersion }) };
  return oneStep(merged(snapshotKinds.VolumeSnapshot, snapshot, { metadata }));
}
