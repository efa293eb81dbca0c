/**
 * Updates the cluster state and the queue from watch events.
 *
 *     pod without a node --► queue            pod with a node --► state, events       ended pod: like a deleted one
 *     node, namespace --► state, events       volumes etc. --► events
 *
 * 1. A pod is in the queue, in the state, or in neither; the API server decides.
 * 2. Other kinds are watched only if a plugin registers for their events.
 */
import { type core, kinds, optional } from "#api";
import type { Change, Informers } from "#client";
import type { ClusterEvent, EventResource, Plugin, PodInfo } from "../framework/index.ts";
import { nodeEvents, objectEvent, podEvents } from "./object-changes.ts";
import type { Parts } from "./parts.ts";

type Followed = Pick<Parts, "groups" | "state" | "infos" | "queue" | "evaluators" | "waiting">;

const OTHER_KINDS = {
  PersistentVolume: kinds.PersistentVolume,
  PersistentVolumeClaim: kinds.PersistentVolumeClaim,
  StorageClass: kinds.StorageClass,
  CSINode: kinds.CSINode,
  CSIDriver: kinds.CSIDriver,
  CSIStorageCapacity: kinds.CSIStorageCapacity,
  VolumeAttachment: kinds.VolumeAttachment,
  ResourceClaim: kinds.ResourceClaim,
  ResourceSlice: kinds.ResourceSlice,
  DeviceClass: kinds.DeviceClass,
  DeviceTaintRule: optional.DeviceTaintRule,
} as const;

export function followCluster(parts: Followed, informers: Informers, plugins: readonly Plugin[]): void {
  const { state, queue } = parts;
  const registered = new Set(plugins.flatMap(({ wakes = [] }) => wakes.map(({ resource }) => resource)));
  informers.of(kinds.Namespace).onChange(({ type, object }) => {
    state.setNamespace(object.metadata.name ?? "", type === "deleted" ? undefined : (object.metadata.labels ?? {}));
  });
  informers.of(kinds.Node).onChange((change) => followNode(parts, change));
  const { groups } = parts;
  if (groups !== undefined) {
    informers
      .of(optional.PodGroup)
      .onChange(({ type, object }) => (type === "deleted" ? groups.removeObject(object) : groups.setObject(object)));
  }
  informers.of(kinds.Pod).onChange((change) => followPod(parts, change));
  for (const [resource, kind] of Object.entries(OTHER_KINDS) as [EventResource, typeof kinds.PersistentVolume][]) {
    if (!registered.has(resource)) continue;
    informers.of(kind).onChange(({ type, object, old }) => queue.event(objectEvent(resource, type, object, old)));
  }
}

function followNode({ state, queue }: Followed, { type, object, old }: Change<core.Node>): void {
  if (type === "deleted") {
    state.removeNode(object.metadata.name ?? "");
    queue.event({ resource: "Node", action: "delete", old: object });
    return;
  }
  state.setNode(object);
  if (type === "added") queue.event({ resource: "Node", action: "add", new: object });
  else for (const event of nodeEvents(old, object)) queue.event(event);
}

type Nominee = Pick<PodInfo, "pod" | "uid" | "priority">;

type Role = "waiting" | "placed" | "none";

function roleOf({ evaluators }: Followed, pod: core.Pod | undefined): Role {
  if (pod === undefined || hasEnded(pod)) return "none";
  if ((pod.spec?.nodeName ?? "") !== "") return "placed";
  return evaluators.has(pod.spec?.schedulerName ?? "") ? "waiting" : "none";
}

function hasEnded({ status }: core.Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

function followPod(parts: Followed, { type, object, old }: Change<core.Pod>): void {
  // First, so that the Pod finds itself in its group.
  const isOver = type === "deleted" || hasEnded(object);
  if (isOver) parts.groups?.removePod(object);
  else parts.groups?.setPod(object);
  const before = roleOf(parts, old);
  const now = type === "deleted" ? "none" : roleOf(parts, object);
  if (before === "waiting" && now !== "waiting") leaveQueue(parts, old ?? object, now === "placed");
  if (now === "waiting") wait(parts, object, before === "waiting" ? old : undefined);
  else if (now === "placed") placePod(parts, object, before === "placed" ? old : undefined);
  else if (before === "placed") {
    parts.state.removePod(object.metadata.uid ?? "");
    parts.queue.event({ resource: "AssignedPod", action: "delete", old: old ?? object });
  }
}

function wait(parts: Followed, pod: core.Pod, old: core.Pod | undefined): void {
  const { state, infos, queue, waiting } = parts;
  const uid = pod.metadata.uid ?? "";
  const info = infos.of(pod, queue.get(uid)?.pod);
  const nominated = pod.status?.nominatedNodeName ?? "";
  const before = old?.status?.nominatedNodeName ?? "";
  const assumed = state.placeOf(uid);
  const isMoved = nominated !== before && assumed === undefined;
  if (isMoved) {
    if (nominated === "") state.removeNomination(uid);
    else state.nominate(info, nominated);
  }
  if (old === undefined) queue.add(info);
  else queue.update(info, podEvents("TargetPod", old, pod));
  if (isMoved && before !== "") release(parts, info, before);
  if (assumed === undefined || !info.terminating || old?.metadata.deletionTimestamp !== undefined) return;
  // The pod is being deleted, so its binding will fail: its resources are free for others at once.
  if (!waiting.reject(uid, "", "the pod is being deleted")) state.forget(uid);
  queue.event(goneFrom(assumed.node, pod), (other) => other.uid !== uid);
}

/** A nomination has ended: pods with the same or a lower priority may use the node's resources again. */
function release({ queue }: Followed, { pod, uid, priority }: Nominee, node: string): void {
  queue.event(goneFrom(node, pod), (other) => other.uid !== uid && other.priority <= priority);
}

/** The event for resources that are free again. */
function goneFrom(node: string, pod: core.Pod): ClusterEvent {
  const old: core.Pod = { ...pod, spec: { containers: [], ...pod.spec, nodeName: node } };
  return { resource: "AssignedPod", action: "delete", old };
}

/** The pod was bound, or deleted. */
function leaveQueue(parts: Followed, pod: core.Pod, isPlaced: boolean): void {
  const { state, queue, waiting } = parts;
  const uid = pod.metadata.uid ?? "";
  const nominated = state.nominationOf(uid);
  state.removeNomination(uid);
  if (isPlaced) {
    // A pod bound by this scheduler stays in flight until the response arrives. A waiting pod was bound by another one.
    if (state.placeOf(uid) === undefined) queue.delete(uid);
    else waiting.reject(uid, "", "the pod already has a node");
    return;
  }
  queue.delete(uid);
  const assumed = state.placeOf(uid);
  if (!waiting.reject(uid, "", "the pod is gone") && assumed !== undefined) {
    state.forget(uid);
    queue.event(goneFrom(assumed.node, pod));
  }
  if (nominated !== undefined) release(parts, { pod, uid, priority: pod.spec?.priority ?? 0 }, nominated);
}

function placePod({ state, infos, queue }: Followed, pod: core.Pod, old: core.Pod | undefined): void {
  const before = state.placeOf(pod.metadata.uid ?? "")?.pod;
  const info = infos.of(pod, before);
  state.setPod(info);
  if (old === undefined) {
    queue.event({ resource: "AssignedPod", action: "add", new: pod });
    return;
  }
  const asksTheSame = before?.pod === old && before.ask.requests === info.ask.requests;
  for (const event of podEvents("AssignedPod", old, pod, asksTheSame)) queue.event(event);
}
