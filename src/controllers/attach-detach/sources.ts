/** Which nodes a change concerns. Heartbeats and status reports of Pods concern none. */
import { type core, equalJson, type Json, kinds } from "#api";
import { type Change, objectKey } from "#client";
import { claimKeysOf } from "../persistent-volume/index.ts";
import { keysFrom, type Source } from "../runtime/index.ts";
import { isLeaving, type VolumeAttachment } from "./attachments.ts";
import { isHealthy } from "./detach.ts";
import type { VolumeUsers } from "./volume-users.ts";
import { isOver } from "./wanted-volumes.ts";

export interface SourcesOptions {
  readonly users: VolumeUsers;
  /** Whether a node has Pods or attachments. */
  isWatched(node: string): boolean;
  onNode(change: Change<core.Node>): void;
}

export function attachSources({ users, isWatched, onNode }: SourcesOptions): readonly Source[] {
  return [
    keysFrom(kinds.Pod, ({ type, object, old }) => {
      const { nodeName = "" } = object.spec ?? {};
      if (nodeName === "" || claimKeysOf(object).length === 0) return [];
      const isSame = old !== undefined && old.spec?.nodeName === nodeName && isOver(old) === isOver(object);
      return isSame && type !== "deleted" ? [] : [nodeName];
    }),
    nodeSource(isWatched, onNode),
    keysFrom(kinds.VolumeAttachment, ({ type, object, old }) => {
      const { nodeName } = object.spec;
      // Others may wait for the volume.
      const isOthersConcern = type === "deleted" || old === undefined || stateOf(old) !== stateOf(object);
      const volume = isOthersConcern ? users.nameOf(object.spec.source.persistentVolumeName) : undefined;
      return volume === undefined ? [nodeName] : [...new Set([nodeName, ...users.nodesWith(volume)])];
    }),
    keysFrom(kinds.PersistentVolumeClaim, ({ object, old }) => {
      const isSame = old?.status?.phase === object.status?.phase && old?.spec?.volumeName === object.spec?.volumeName;
      return isSame ? [] : users.nodesOfClaim(objectKey(object));
    }),
    keysFrom(kinds.PersistentVolume, ({ object, old }) =>
      same(old?.spec, object.spec) ? [] : users.nodesOfVolume(object),
    ),
    keysFrom(kinds.CSIDriver, ({ type, object, old }) => {
      const isSame = type !== "deleted" && old?.spec.attachRequired === object.spec.attachRequired;
      return isSame && old !== undefined ? [] : users.nodesOfDriver(object.metadata.name ?? "");
    }),
    keysFrom(kinds.CSINode, ({ object, old }) => {
      const { name = "", annotations } = object.metadata;
      return same(old?.metadata.annotations, annotations) || !isWatched(name) ? [] : [name];
    }),
  ];
}

/** Reconciles are about nodes. */
function nodeSource(isWatched: SourcesOptions["isWatched"], onNode: SourcesOptions["onNode"]): Source {
  const source = keysFrom(kinds.Node, (change) => {
    onNode(change);
    const { type, object, old } = change;
    const { name = "", annotations } = object.metadata;
    const lists = (object.status?.volumesAttached ?? []).length > 0;
    if (!lists && !isWatched(name)) return [];
    const isSame =
      type !== "deleted" &&
      old !== undefined &&
      isHealthy(old) === isHealthy(object) &&
      same(old.spec?.taints, object.spec?.taints) &&
      same(old.status?.volumesInUse, object.status?.volumesInUse) &&
      same(old.status?.volumesAttached, object.status?.volumesAttached) &&
      same(old.metadata.annotations, annotations);
    return isSame ? [] : [name];
  });
  return { ...source, isItself: true };
}

function stateOf(attachment: VolumeAttachment): string {
  if (isLeaving(attachment)) return "leaving";
  if (attachment.status?.attached === true) return "attached";
  return attachment.status?.attachError === undefined ? "waiting" : "failed";
}

function same(a: unknown, b: unknown): boolean {
  return equalJson((a ?? null) as Json, (b ?? null) as Json);
}
