/**
 * What a VolumeGroupSnapshot needs next: its class, its finalizer, its content, its members, its status.
 *
 *     class ──► content (made, or bound) ──► members ──► status as the content's ──► ready
 *     deleted ──► delete-group.ts
 */
import type { Plan } from "#controllers";
import type { SnapshotFailure } from "../controller/status.ts";
import { groupKinds, type VolumeGroupSnapshot, type VolumeGroupSnapshotContent } from "../objects/group-kinds.ts";
import { finalizers, groupContentNameFor } from "../objects/names.ts";
import { has, isDeleted, isReady, keyOfObject, mayReferTo, refersTo } from "../objects/state.ts";
import { changedFinalizers, merged, oneStep } from "../objects/writes.ts";
import { groupClassPlan } from "./default-class.ts";
import { groupDeletionPlan } from "./delete-group.ts";
import type { GroupLookups } from "./lookups.ts";
import { membersPlan } from "./members.ts";
import { groupCreationPlan } from "./new-content.ts";
import { groupFailure, groupStatusPlan } from "./status.ts";

const { VolumeGroupSnapshot: Group, VolumeGroupSnapshotContent: Content } = groupKinds;

const MISSING: SnapshotFailure = {
  reason: "GroupSnapshotContentMissing",
  message: "VolumeGroupSnapshotContent is missing",
};

/** Undefined: nothing, until something that the group depends on changes. */
export function planGroup(group: VolumeGroupSnapshot, lookups: GroupLookups, now: number): Plan | undefined {
  if (isDeleted(group)) return groupDeletionPlan(group, lookups);
  const fail = (failed: SnapshotFailure) => groupFailure(group, failed, now);
  const { selector, volumeGroupSnapshotContentName: given } = group.spec.source;
  if ((selector === undefined) === (given === undefined)) {
    const message = "Exactly one of Selector and VolumeGroupSnapshotContentName should be specified";
    return fail({ reason: "GroupSnapshotValidationError", message });
  }
  const chosen = groupClassPlan(group, lookups, now);
  if (chosen !== "done") return chosen;
  // From the start: a group that is deleted at once would leave its content behind otherwise.
  if (!has(group, finalizers.groupBound))
    return oneStep(changedFinalizers(Group, group, { add: [finalizers.groupBound] }));
  const found = given === undefined ? madeContent(group, lookups) : givenContent(group, given, lookups);
  if ("reason" in found) return fail(found);
  const { content } = found;
  const bound = group.status?.boundVolumeGroupSnapshotContentName ?? "";
  if (isReady(group) && bound !== "") {
    if (content === undefined) return fail(MISSING);
    if (refersTo(content.spec.volumeGroupSnapshotRef, group)) return undefined;
    const message = "VolumeGroupSnapshotContent is not bound to the VolumeGroupSnapshot correctly";
    return fail({ reason: "GroupSnapshotMisbound", message });
  }
  if (content === undefined) {
    const isLost = given !== undefined || group.status?.creationTime !== undefined;
    return isLost ? fail(MISSING) : groupCreationPlan(group, lookups, now);
  }
  if (given !== undefined) return bindingPlan(group, content) ?? groupStatusPlan(group, content);
  if (content.spec.source.groupSnapshotHandles !== undefined) {
    const words = `GroupSnapshot handle should not be set in group snapshot content ${keyOfObject(group)} for dynamic provisioning`;
    return fail({ reason: "GroupSnapshotHandleSet", message: words });
  }
  return membersPlan(group, content, lookups) ?? groupStatusPlan(group, content);
}

type Found = { readonly content: VolumeGroupSnapshotContent | undefined } | SnapshotFailure;

function givenContent(group: VolumeGroupSnapshot, name: string, lookups: GroupLookups): Found {
  const content = lookups.content(name);
  if (content === undefined) return { content };
  if (content.spec.source.groupSnapshotHandles === undefined) {
    const message = "VolumeGroupSnapshotContent is dynamically provisioned while expecting a pre-provisioned one";
    return { reason: "GroupSnapshotContentMismatch", message };
  }
  return mayReferTo(content.spec.volumeGroupSnapshotRef, group) ? { content } : misbound(name);
}

function madeContent(group: VolumeGroupSnapshot, lookups: GroupLookups): Found {
  const name = groupContentNameFor(group.metadata.uid ?? "");
  const content = lookups.content(name);
  if (content === undefined) return { content };
  if (content.spec.source.groupSnapshotHandles !== undefined) {
    const message = `VolumeGroupSnapshotContent ${name} is pre-provisioned while expecting a dynamically provisioned one`;
    return { reason: "GroupSnapshotContentMismatch", message };
  }
  return refersTo(content.spec.volumeGroupSnapshotRef, group) ? { content } : misbound(name);
}

function misbound(name: string): SnapshotFailure {
  const message = `VolumeGroupSnapshotContent [${name}] is bound to a different group snapshot`;
  return { reason: "GroupSnapshotContentMisbound", message };
}

/** Binds a content that is reserved for the group; undefined if it is bound. */
function bindingPlan(group: VolumeGroupSnapshot, content: VolumeGroupSnapshotContent): Plan | undefined {
  const { volumeGroupSnapshotRef: ref, volumeGroupSnapshotClassName: bound } = content.spec;
  const { volumeGroupSnapshotClassName: wanted } = group.spec;
  if ((ref.uid ?? "") !== "" && (bound !== undefined || wanted === undefined)) return undefined;
  const { uid = "" } = group.metadata;
  const { resourceVersion } = content.metadata;
  const spec = {
    volumeGroupSnapshotRef: { ...ref, uid },
    ...(bound === undefined && wanted !== undefined && { volumeGroupSnapshotClassName: wanted }),
  };
  return oneStep(merged(Content, content, { metadata: { ...(resourceVersion && { resourceVersion }) }, spec }));
}
