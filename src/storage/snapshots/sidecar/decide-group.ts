/** What the sidecar does next about a VolumeGroupSnapshotContent of its driver: as for single snapshots. */
import type { GroupSnapshotHandles, VolumeGroupSnapshotContent } from "../objects/group-kinds.ts";
import { annotations, finalizers } from "../objects/names.ts";
import { has, isDeleted, isReady } from "../objects/state.ts";

export type GroupAction =
  | { readonly kind: "nothing" }
  | { readonly kind: "release" }
  | { readonly kind: "unmark" }
  | { readonly kind: "mark" }
  | { readonly kind: "create"; readonly volumes: readonly string[]; readonly isFirst: boolean }
  | { readonly kind: "check"; readonly handles: GroupSnapshotHandles }
  | { readonly kind: "delete"; readonly handle: string; readonly members: readonly string[] };

const NOTHING: GroupAction = { kind: "nothing" };

export function decideGroup(content: VolumeGroupSnapshotContent): GroupAction {
  const { spec, status } = content;
  const { volumeHandles = [], groupSnapshotHandles: handles } = spec.source;
  if (mayGo(content)) {
    const { volumeGroupSnapshotHandle: handle, volumeSnapshotInfoList: infos = [] } = status ?? {};
    if (spec.deletionPolicy === "Delete" && handle !== undefined) {
      const reported = infos.map(({ snapshotHandle }) => snapshotHandle).filter((each) => each !== undefined);
      const members = reported.length > 0 ? reported : (handles?.volumeSnapshotHandles ?? []);
      return { kind: "delete", handle, members };
    }
    return has(content, finalizers.groupContent) ? { kind: "release" } : NOTHING;
  }
  const isMarked = marked(content, annotations.groupBeingCreated);
  if (isReady(content)) return isMarked ? { kind: "unmark" } : NOTHING;
  if (handles !== undefined) return { kind: "check", handles };
  if (volumeHandles.length === 0 || (spec.volumeGroupSnapshotRef.uid ?? "") === "") return NOTHING;
  return isMarked ? { kind: "create", volumes: volumeHandles, isFirst: status === undefined } : { kind: "mark" };
}

function mayGo(content: VolumeGroupSnapshotContent): boolean {
  if (!isDeleted(content)) return false;
  const { source, volumeGroupSnapshotRef: ref } = content.spec;
  if (source.groupSnapshotHandles !== undefined && (ref.uid ?? "") === "") return true;
  if (marked(content, annotations.groupBeingCreated)) return false;
  return marked(content, annotations.groupBeingDeleted);
}

function marked({ metadata }: VolumeGroupSnapshotContent, annotation: string): boolean {
  return metadata.annotations?.[annotation] !== undefined;
}
