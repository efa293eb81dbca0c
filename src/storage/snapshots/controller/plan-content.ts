/** What a VolumeSnapshotContent needs of the snapshot controller: its finalizer, and to know that its snapshot goes. */
import type { Plan } from "#controllers";
import { snapshotKinds, type VolumeSnapshotContent } from "../objects/kinds.ts";
import { annotations, finalizers } from "../objects/names.ts";
import { has, isDeleted, keyOfReference, refersTo } from "../objects/state.ts";
import { annotated, changedFinalizers, oneStep, warning } from "../objects/writes.ts";
import type { SnapshotLookups } from "./lookups.ts";

const { VolumeSnapshotContent: Content } = snapshotKinds;

export function planContent(
  content: VolumeSnapshotContent,
  lookups: Pick<SnapshotLookups, "snapshot">,
): Plan | undefined {
  const { source, volumeSnapshotRef: ref } = content.spec;
  if ((source.volumeHandle === undefined) === (source.snapshotHandle === undefined)) {
    const words = "Exactly one of VolumeHandle and SnapshotHandle should be specified";
    return { events: [warning(content, "ContentValidationError", words)] };
  }
  // Reserved, and not bound yet: that is up to its snapshot.
  if ((ref.uid ?? "") === "") return undefined;
  if (!isDeleted(content) && !has(content, finalizers.content))
    return oneStep(changedFinalizers(Content, content, { add: [finalizers.content] }));
  // A content whose snapshot does not exist is kept: it may have been restored from a backup of another cluster.
  const snapshot = lookups.snapshot(keyOfReference(ref));
  if (snapshot === undefined || !refersTo(ref, snapshot) || !isDeleted(snapshot)) return undefined;
  const isLeaving = has(snapshot, finalizers.snapshotAsSource) || has(snapshot, finalizers.snapshotBound);
  if (!isLeaving || content.metadata.annotations?.[annotations.beingDeleted] !== undefined) return undefined;
  return oneStep(annotated(Content, content, { [annotations.beingDeleted]: "yes" }));
}
