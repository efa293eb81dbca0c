/**
 * The conditions that a node sets on a Pod.
 *
 * 1. Conditions of others stay, such as readiness gates. A condition keeps its lastTransitionTime while its status
 *    stays the same.
 * 2. Ready is ContainersReady and every readiness gate.
 * 3. Every condition has the observedGeneration of the spec that it was made from.
 */
import { type core, goQuote } from "#api";
import { isSidecar } from "../lifecycle/index.ts";
import type { ContainerStatuses } from "./container-statuses.ts";
import type { ObservedPod } from "./observed.ts";
import { isFinal, type Phase } from "./phase.ts";
import { timestamp } from "./time.ts";

const OWN = new Set([
  "PodReadyToStartContainers",
  "Initialized",
  "Ready",
  "ContainersReady",
  "PodScheduled",
  "PodResizePending",
  "PodResizeInProgress",
]);

type OwnCondition = Pick<core.PodCondition, "type" | "status" | "reason" | "message">;

export interface ConditionFacts {
  readonly pod: core.Pod;
  readonly observed: ObservedPod;
  readonly statuses: ContainerStatuses;
  readonly phase: Phase;
  readonly before: core.PodStatus;
  readonly now: number;
}

export function conditionsOf(facts: ConditionFacts): readonly core.PodCondition[] {
  const { pod, observed } = facts;
  const given = observed.conditions ?? [];
  const givenTypes = new Set(given.map(({ type }) => type));
  const kept = (pod.status?.conditions ?? []).filter(({ type }) => !OWN.has(type) && !givenTypes.has(type));
  const containersReady = containersReadyOf(facts);
  const own: OwnCondition[] = [
    { type: "PodReadyToStartContainers", status: observed.sandboxReady ? "True" : "False" },
    initializedOf(facts),
    readyOf(pod, containersReady, kept),
    containersReady,
    { type: "PodScheduled", status: "True" },
  ];
  return [...kept, ...given, ...own.map((condition) => dated(condition, facts))];
}

function dated(condition: OwnCondition, { pod, before, now }: ConditionFacts): core.PodCondition {
  const { generation } = pod.metadata;
  const old = before.conditions?.find(({ type }) => type === condition.type);
  const isSame = old?.status === condition.status && old.lastTransitionTime !== undefined;
  return {
    ...condition,
    ...(generation !== undefined && { observedGeneration: generation }),
    lastTransitionTime: isSame ? (old.lastTransitionTime ?? "") : timestamp(now),
  };
}

function containersReadyOf({ pod, statuses, phase }: ConditionFacts): OwnCondition {
  const type = "ContainersReady";
  if (isFinal(phase)) return { type, status: "False", reason: phase === "Failed" ? "PodFailed" : "PodCompleted" };
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const awaited = [...initContainers.filter(isSidecar), ...containers];
  const isReady = new Map([...statuses.init, ...statuses.regular].map(({ name, ready }) => [name, ready]));
  const unready = awaited.filter(({ name }) => isReady.get(name) !== true);
  if (unready.length === 0) return { type, status: "True" };
  const message = `containers with unready status: ${listed(unready)}`;
  return { type, status: "False", reason: "ContainersNotReady", message };
}

function readyOf(
  pod: core.Pod,
  { status, reason, message }: OwnCondition,
  others: readonly core.PodCondition[],
): OwnCondition {
  const type = "Ready";
  if (status !== "True") return { type, status, ...texts(reason, message) };
  const problems = (pod.spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = others.find((condition) => condition.type === conditionType);
    if (gate === undefined)
      return [`corresponding condition of pod readiness gate ${goQuote(conditionType)} does not exist.`];
    return gate.status === "True"
      ? []
      : [`the status of pod readiness gate ${goQuote(conditionType)} is not "True", but ${gate.status}`];
  });
  if (problems.length === 0) return { type, status: "True" };
  return { type, status: "False", reason: "ReadinessGatesNotReady", message: problems.join(", ") };
}

function initializedOf({ pod, statuses, phase }: ConditionFacts): OwnCondition {
  const type = "Initialized";
  if (phase === "Succeeded") return { type, status: "True", reason: "PodCompleted" };
  // After the first start of a regular container, a restart of a sidecar does not matter.
  const hasStarted = statuses.regular.some(
    ({ state }) => state?.running !== undefined || state?.terminated !== undefined,
  );
  if (hasStarted) return { type, status: "True" };
  const incomplete = (pod.spec?.initContainers ?? []).filter((container, at) => {
    const status = statuses.init[at];
    return isSidecar(container) ? status?.started !== true : status?.ready !== true;
  });
  if (incomplete.length === 0) return { type, status: "True" };
  const message = `containers with incomplete status: ${listed(incomplete)}`;
  return { type, status: "False", reason: "ContainersNotInitialized", message };
}

function texts(reason: string | undefined, message: string | undefined) {
  return { ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) };
}

function listed(containers: readonly { readonly name: string }[]): string {
  return `[${containers.map(({ name }) => name).join(" ")}]`;
}
