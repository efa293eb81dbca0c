/** Translates changes of objects into the events that plugins register for. */
import { compareQuantities, type core, equalJson, type Json, type KubeObject, podRequests } from "#api";
import type { ClusterEvent, EventAction, EventResource } from "../framework/index.ts";
import { allocationOf, hasNoAllocation } from "../snapshot/index.ts";

export function nodeEvents(old: core.Node, node: core.Node): readonly ClusterEvent[] {
  const differs = (of: (node: core.Node) => unknown) =>
    !equalJson((of(old) ?? null) as Json, (of(node) ?? null) as Json);
  const actions: EventAction[] = [];
  if (differs(({ status }) => status?.allocatable)) actions.push("allocatable");
  if (differs(({ metadata }) => metadata.labels)) actions.push("labels");
  const isOpened = old.spec?.unschedulable === true && node.spec?.unschedulable !== true;
  if (isOpened || differs(({ spec }) => spec?.taints ?? [])) actions.push("taints");
  if (differs(({ status }) => conditionsOf(status))) actions.push("condition");
  if (differs(({ metadata }) => metadata.annotations)) actions.push("annotation");
  if (differs(({ status }) => status?.declaredFeatures)) actions.push("declaredFeatures");
  return actions.map((action) => ({ resource: "Node", action, old, new: node }));
}

/** Only the status: messages and times change with every heartbeat. */
function conditionsOf(status: core.NodeStatus | undefined) {
  return Object.fromEntries((status?.conditions ?? []).map(({ type, status: value }) => [type, value]));
}

/** A change without a name of its own is an "update". `asksTheSame`: requests are known to be unchanged. */
export function podEvents(
  resource: EventResource,
  old: core.Pod,
  pod: core.Pod,
  asksTheSame = false,
): readonly ClusterEvent[] {
  const differs = (of: (pod: core.Pod) => unknown) => !equalJson((of(old) ?? null) as Json, (of(pod) ?? null) as Json);
  const actions: EventAction[] = [];
  if (differs(({ metadata }) => metadata.labels)) actions.push("labels");
  if (differs(({ spec }) => spec?.tolerations)) actions.push("tolerations");
  if (gatesOf(old) > 0 && gatesOf(pod) === 0) actions.push("gatesEliminated");
  if (old.status !== pod.status && differs(({ status }) => status?.resourceClaimStatuses))
    actions.push("generatedResourceClaim");
  if (!asksTheSame && !(old.spec === pod.spec && hasNoAllocation(old) && hasNoAllocation(pod)))
    actions.push(...scaling(old, pod));
  if (actions.length === 0) actions.push("update");
  return actions.map((action) => ({ resource, action, old, new: pod }));
}

function gatesOf({ spec }: core.Pod): number {
  return spec?.schedulingGates?.length ?? 0;
}

function scaling(old: core.Pod, pod: core.Pod): readonly EventAction[] {
  if (requestsText(old) === requestsText(pod)) return [];
  const [before, after] = [podRequests(old, { useStatus: true }), podRequests(pod, { useStatus: true })];
  const found = new Set<EventAction>();
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [before[name], after[name]];
    const order = was === undefined ? -1 : is === undefined ? 1 : compareQuantities(was, is);
    if (order !== 0) found.add(order > 0 ? "scaleDown" : "scaleUp");
  }
  return [...found];
}

function requestsText({ spec, status }: core.Pod): string {
  return JSON.stringify([
    spec?.resources?.requests,
    [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(({ resources }) => resources?.requests),
    allocationOf(status),
  ]);
}

export function objectEvent(
  resource: EventResource,
  type: "added" | "updated" | "deleted",
  object: KubeObject,
  old: KubeObject | undefined,
): ClusterEvent {
  if (type === "added") return { resource, action: "add", new: object };
  if (type === "deleted") return { resource, action: "delete", old: old ?? object };
  return { resource, action: "update", new: object, old };
}
