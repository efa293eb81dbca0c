/**
 * A VolumeGroupSnapshot that is being deleted: its content and its members go with it.
 *
 * 1. It stays while a claim is restored from one of its members.
 * 2. A content is touched only if it refers to this very group.
 * 3. Its members follow when it is gone: until then they may not be deleted one by one.
 */
import type { Plan } from "#controllers";
import { groupKinds, type VolumeGroupSnapshot } from "../objects/group-kinds.ts";
import { snapshotKinds } from "../objects/kinds.ts";
import { annotations, finalizers, groupContentNameFor } from "../objects/names.ts";
import { has, isDeleted, keyOfObject, refersTo } from "../objects/state.ts";
import { annotated, changedFinalizers, deletion, oneStep, warning } from "../objects/writes.ts";
import type { GroupLookups } from "./lookups.ts";

const { VolumeGroupSnapshot: Group, VolumeGroupSnapshotContent: Content } = groupKinds;

export function groupDeletionPlan(group: VolumeGroupSnapshot, lookups: GroupLookups): Plan | undefined {
  if (!has(group, finalizers.groupBound)) return undefined;
  const key = keyOfObject(group);
  const members = lookups.membersOf(key);
  const restoring = members.map(keyOfObject).find((member) => lookups.isRestoring(member));
  if (restoring !== undefined) {
    const words = `Snapshot ${restoring} belonging to VolumeGroupSnapshot ${key} is being used to restore a PVC`;
    return { events: [warning(group, "SnapshotDeletePending", words)] };
  }
  const { status, spec, metadata } = group;
  const { volumeGroupSnapshotContentName: given = groupContentNameFor(metadata.uid ?? "") } = spec.source;
  const named = lookups.content(status?.boundVolumeGroupSnapshotContentName ?? given);
  const content = named !== undefined && refersTo(named.spec.volumeGroupSnapshotRef, group) ? named : undefined;
  if (content !== undefined && content.metadata.annotations?.[annotations.groupBeingDeleted] === undefined)
    return oneStep(annotated(Content, content, { [annotations.groupBeingDeleted]: "yes" }));
  const deletesContent = content?.spec.deletionPolicy === "Delete";
  if (content !== undefined && deletesContent && !isDeleted(content)) {
    const words = "Failed to delete group snapshot content API object";
    return {
      steps: [[deletion(Content, content)]],
      eventFor: (_, { ok }) => (ok ? undefined : warning(group, "GroupSnapshotContentObjectDeleteError", words)),
    };
  }
  const left = members.filter((member) => !isDeleted(member));
  if (left.length > 0) return oneStep(...left.map((member) => deletion(snapshotKinds.VolumeSnapshot, member)));
  if (deletesContent) return undefined;
  return oneStep(changedFinalizers(Group, group, { remove: [finalizers.groupBound] }));
}
