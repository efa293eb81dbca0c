/**
 * A VolumeSnapshot that is being deleted: its content goes first if the policy is Delete, and stays if it is Retain.
 *
 * 1. A snapshot that a claim is being restored from, or that belongs to a group, stays.
 * 2. A content is touched only if it refers to this very snapshot.
 */
import type { Plan, Write } from "#controllers";
import { snapshotKinds, type VolumeSnapshot } from "../objects/kinds.ts";
import { annotations, finalizers } from "../objects/names.ts";
import { contentNameOf, has, isDeleted, keyOfObject, refersTo } from "../objects/state.ts";
import { annotated, changedFinalizers, deletion, oneStep, warning } from "../objects/writes.ts";
import { releaseClaim } from "./claims.ts";
import type { SnapshotLookups } from "./lookups.ts";

const { VolumeSnapshot: Snapshot, VolumeSnapshotContent: Content } = snapshotKinds;

export function deletionPlan(snapshot: VolumeSnapshot, lookups: SnapshotLookups): Plan | undefined {
  const { snapshotAsSource, snapshotBound, snapshotInGroup } = finalizers;
  if (![snapshotAsSource, snapshotBound, snapshotInGroup].some((each) => has(snapshot, each))) return undefined;
  const named = lookups.content(contentNameOf(snapshot));
  const content = named !== undefined && refersTo(named.spec.volumeSnapshotRef, snapshot) ? named : undefined;
  const key = keyOfObject(snapshot);
  if (content !== undefined && lookups.isRestoring(key))
    return { events: [warning(snapshot, "SnapshotDeletePending", "Snapshot is being used to restore a PVC")] };
  const { volumeGroupSnapshotName: groupName } = snapshot.status ?? {};
  if (groupName !== undefined) {
    const groupKey = `${snapshot.metadata.namespace}/${groupName}`;
    if (lookups.group(groupKey) !== undefined)
      return { events: [warning(snapshot, "SnapshotDeletePending", inGroup(key, groupKey))] };
  }
  if (content !== undefined && content.metadata.annotations?.[annotations.beingDeleted] === undefined)
    return oneStep(annotated(Content, content, { [annotations.beingDeleted]: "yes" }));
  const deletesContent = content?.spec.deletionPolicy === "Delete";
  if (content !== undefined && deletesContent && !isDeleted(content)) {
    return {
      steps: [[deletion(Content, content)]],
      eventFor: (_, outcome) =>
        outcome.ok
          ? undefined
          : warning(snapshot, "SnapshotContentObjectDeleteError", "Failed to delete snapshot content API object"),
    };
  }
  return leavingPlan(snapshot, lookups, [
    snapshotAsSource,
    snapshotInGroup,
    ...(deletesContent ? [] : [snapshotBound]),
  ]);
}

/** The claim is released first: once the snapshot is gone, nothing leads back to it. */
function leavingPlan(snapshot: VolumeSnapshot, lookups: SnapshotLookups, remove: readonly string[]): Plan | undefined {
  if (!remove.some((each) => has(snapshot, each))) return undefined;
  const release = releaseClaim(snapshot, lookups, snapshot);
  const last: Write = changedFinalizers(Snapshot, snapshot, { remove });
  return release === undefined ? oneStep(last) : { steps: [[release], [last]] };
}

function inGroup(key: string, groupKey: string): string {
  return `deletion of the individual volume snapshot ${key} is not allowed as it belongs to group snapshot ${groupKey}. Deleting the group snapshot will trigger the deletion of all the individual volume snapshots that are part of the group.`;
}
