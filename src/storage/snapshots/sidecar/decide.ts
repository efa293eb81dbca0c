/**
 * What the sidecar does next about a VolumeSnapshotContent of its driver.
 *
 * 1. The annotation `being-created` is written before the driver is asked for a snapshot, and removed when the driver
 *    has answered for good: a content that is deleted in between stays until it is known what there is to delete.
 * 2. A snapshot is deleted only when its VolumeSnapshot is, or if it was never bound.
 * 3. Members of a group are made and deleted with their group.
 */
import type { VolumeSnapshotContent } from "../objects/kinds.ts";
import { annotations, finalizers } from "../objects/names.ts";
import { has, isDeleted, isMemberContent, isReady } from "../objects/state.ts";

export type Action =
  | { readonly kind: "nothing" }
  | { readonly kind: "release" }
  | { readonly kind: "unmark" }
  | { readonly kind: "mark" }
  /** `isFirst`: the driver has not answered yet. */
  | { readonly kind: "create"; readonly volumeHandle: string; readonly isFirst: boolean }
  | { readonly kind: "check"; readonly handle: string }
  | { readonly kind: "delete"; readonly handle: string };

const NOTHING: Action = { kind: "nothing" };

export function decide(content: VolumeSnapshotContent): Action {
  const { spec, status } = content;
  if (mayGo(content)) {
    const { snapshotHandle: handle, volumeGroupSnapshotHandle: group } = status ?? {};
    if (spec.deletionPolicy === "Delete" && handle !== undefined && group === undefined)
      return { kind: "delete", handle };
    return has(content, finalizers.content) ? { kind: "release" } : NOTHING;
  }
  const isMarked = marked(content, annotations.beingCreated);
  if (isReady(content)) return isMarked ? { kind: "unmark" } : NOTHING;
  const isMember = isMemberContent(content, annotations.groupHandle);
  const isInGroup = status?.volumeGroupSnapshotHandle !== undefined;
  const handle = spec.source.snapshotHandle ?? (isInGroup ? status?.snapshotHandle : undefined);
  if (handle !== undefined) return { kind: "check", handle };
  const { volumeHandle } = spec.source;
  if (isMember || volumeHandle === undefined) return NOTHING;
  return isMarked ? { kind: "create", volumeHandle, isFirst: status === undefined } : { kind: "mark" };
}

function mayGo(content: VolumeSnapshotContent): boolean {
  if (!isDeleted(content)) return false;
  const { source, volumeSnapshotRef: ref } = content.spec;
  if (source.snapshotHandle !== undefined && (ref.uid ?? "") === "") return true;
  if (marked(content, annotations.beingCreated)) return false;
  return marked(content, annotations.beingDeleted);
}

function marked({ metadata }: VolumeSnapshotContent, annotation: string): boolean {
  return metadata.annotations?.[annotation] !== undefined;
}
