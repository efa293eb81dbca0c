/**
 * The columns of `kubectl get pods`.
 *
 * 1. STATUS shows the first init container that is not done, else the first container that waits or has terminated,
 *    else the phase of the pod.
 */
import { ageColumn, ageOf } from "../../definition/columns.ts";
import type { Column, RowCondition } from "../../machinery/kind.ts";
import { parseTime, toMs } from "../../machinery/scalars/time.ts";
import type { ContainerStateTerminated, ContainerStatus, Pod, PodSpec, PodStatus } from "../../types/core-v1.ts";
import { isSidecar } from "./resources/container-totals.ts";

const none = "<none>";

export const podColumns: readonly Column<Pod>[] = [
  {
    name: "Ready",
    type: "string",
    doc: "columns.pod.Ready",
    description: "How many of the Pod's containers are ready, of how many.",
    cell: (pod) => {
      const { ready, total } = summaryOf(pod);
      return `${ready}/${total}`;
    },
  },
  {
    name: "Status",
    type: "string",
    doc: "columns.pod.Status",
    description: "What the Pod and its containers are doing, in a word.",
    cell: (pod) => summaryOf(pod).reason,
  },
  {
    name: "Restarts",
    type: "string",
    doc: "columns.pod.Restarts",
    description: "How often containers were restarted, and how long ago the last time was.",
    cell: (pod, now) => {
      const { restarts, lastRestart } = summaryOf(pod);
      return restarts > 0 && lastRestart !== undefined ? `${restarts} (${ageOf(lastRestart, now)} ago)` : `${restarts}`;
    },
  },
  ageColumn,
  {
    name: "IP",
    type: "string",
    priority: 1,
    doc: "io.k8s.api.core.v1.PodStatus.podIP",
    cell: (pod) => pod.status?.podIPs?.[0]?.ip || none,
  },
  {
    name: "Node",
    type: "string",
    priority: 1,
    doc: "io.k8s.api.core.v1.PodSpec.nodeName",
    cell: (pod) => pod.spec?.nodeName || none,
  },
  {
    name: "Nominated Node",
    type: "string",
    priority: 1,
    doc: "io.k8s.api.core.v1.PodStatus.nominatedNodeName",
    cell: (pod) => pod.status?.nominatedNodeName || none,
  },
  {
    name: "Readiness Gates",
    type: "string",
    priority: 1,
    doc: "io.k8s.api.core.v1.PodSpec.readinessGates",
    cell: readinessGates,
  },
];

export function podRowConditions({ status }: Pod): readonly RowCondition[] {
  const ended = (reason: string, message: string): readonly RowCondition[] => [
    { type: "Completed", status: "True", reason, message },
  ];
  if (status?.phase === "Succeeded") return ended("Succeeded", "The pod has completed successfully.");
  return status?.phase === "Failed" ? ended("Failed", "The pod failed.") : [];
}

interface Summary {
  readonly ready: number;
  readonly total: number;
  readonly reason: string;
  readonly restarts: number;
  /** When a container last terminated before it was restarted. */
  readonly lastRestart: string | undefined;
}

function summaryOf({ metadata, spec = { containers: [] }, status = {} }: Pod): Summary {
  const sidecars = new Set((spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const total = (spec.containers ?? []).length + sidecars.size;
  const initializing = initReason(spec, status, sidecars);
  const isInitializing = initializing !== undefined && !isTrue(status, "Initialized");
  const inits = status.initContainerStatuses ?? [];
  const done = initializing === undefined ? inits : inits.slice(0, initializing.place + 1);
  const restarted = isInitializing
    ? done
    : [...done.filter(({ name }) => sidecars.has(name)), ...(status.containerStatuses ?? [])];
  const readyInits = done.filter(
    (one, i) => i !== initializing?.place && sidecars.has(one.name) && !hasCompleted(one) && one.started && one.ready,
  );
  const readyContainers = isInitializing ? [] : (status.containerStatuses ?? []).filter(isReadyAndRunning);
  return {
    ready: readyInits.length + readyContainers.length,
    total,
    reason:
      deletionReason(metadata, status) ??
      (isInitializing ? initializing.reason : containerReason(status, initializing?.reason)),
    restarts: restarted.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0),
    lastRestart: latestEnd(restarted),
  };
}

function deletionReason({ deletionTimestamp }: Pod["metadata"], { phase, reason }: PodStatus): string | undefined {
  if (deletionTimestamp === undefined) return undefined;
  if (reason === "NodeLost") return "Unknown";
  return phase === "Succeeded" || phase === "Failed" ? undefined : "Terminating";
}

/** The reason of the first init container that holds the others back. */
function initReason(
  spec: PodSpec,
  status: PodStatus,
  sidecars: ReadonlySet<string>,
): { reason: string; place: number } | undefined {
  for (const [place, one] of (status.initContainerStatuses ?? []).entries()) {
    const { terminated, waiting } = one.state ?? {};
    if (hasCompleted(one) || (sidecars.has(one.name) && one.started === true)) continue;
    if (terminated !== undefined) return { place, reason: `Init:${endReason(terminated)}` };
    if (waiting?.reason && waiting.reason !== "PodInitializing") return { place, reason: `Init:${waiting.reason}` };
    return { place, reason: `Init:${place}/${(spec.initContainers ?? []).length}` };
  }
  return undefined;
}

function containerReason(status: PodStatus, fallback: string | undefined): string {
  let reason = fallback ?? podReason(status);
  for (const { state } of [...(status.containerStatuses ?? [])].reverse()) {
    if (state?.waiting?.reason) reason = state.waiting.reason;
    else if (state?.terminated !== undefined) reason = endReason(state.terminated);
  }
  if (reason !== "Completed" || !(status.containerStatuses ?? []).some(isReadyAndRunning)) return reason;
  return isTrue(status, "Ready") ? "Running" : "NotReady";
}

function podReason({ phase, reason, conditions = [] }: PodStatus): string {
  const isGated = conditions.some((one) => one.type === "PodScheduled" && one.reason === "SchedulingGated");
  return isGated ? "SchedulingGated" : reason || (phase ?? "");
}

function endReason({ reason, signal, exitCode }: ContainerStateTerminated): string {
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`);
}

function hasCompleted({ state }: ContainerStatus): boolean {
  return state?.terminated?.exitCode === 0;
}

function isReadyAndRunning({ ready, state }: ContainerStatus): boolean {
  return ready === true && state?.running !== undefined && !state.waiting?.reason && state.terminated === undefined;
}

function latestEnd(statuses: readonly ContainerStatus[]): string | undefined {
  const ends = statuses.flatMap(({ lastState }) => lastState?.terminated?.finishedAt ?? []);
  return ends.reduce<string | undefined>(
    (last, end) => (last === undefined || toMs(parseTime(end)) > toMs(parseTime(last)) ? end : last),
    undefined,
  );
}

function readinessGates({ spec, status }: Pod): string {
  const gates = spec?.readinessGates ?? [];
  if (gates.length === 0) return none;
  const open = gates.filter(({ conditionType }) => isTrue(status ?? {}, conditionType));
  return `${open.length}/${gates.length}`;
}

function isTrue({ conditions = [] }: PodStatus, type: string): boolean {
  return conditions.find((condition) => condition.type === type)?.status === "True";
}
