/**
 * The status of a PodDisruptionBudget: expected, desired healthy and healthy Pods, and allowed disruptions.
 *
 * 1. A Pod in `disruptedPods` counts as evicted until it is gone, or for two minutes.
 * 2. A budget without Pods allows no disruptions, so that its first Pods are protected before they are counted.
 * 3. If the expected Pods are unknown, no disruptions are allowed.
 */
import { equalJson, type Json, type meta, type policy, scaledIntOrString } from "#api";
import { isEnding, isReady, type Pod } from "../pods/index.ts";

export type Budget = policy.PodDisruptionBudget;
export type BudgetStatus = policy.PodDisruptionBudgetStatus;

/** How long an eviction may take to become a deletion. */
const DELETION_MS = 2 * 60_000;

export interface Disrupted {
  readonly pods: Readonly<Record<string, string>>;
  /** Pods in `disruptedPods` that were not deleted in time. */
  readonly overdue: readonly Pod[];
  /** When the next one becomes overdue. */
  readonly againAfterMs: number | undefined;
}

export function stillDisrupted(budget: Budget, pods: readonly Pod[], now: number): Disrupted {
  const { disruptedPods = {} } = budget.status ?? {};
  const known = pods.filter((pod) => !isEnding(pod) && disruptedPods[pod.metadata.name ?? ""] !== undefined);
  const leftMs = ({ metadata }: Pod) => Date.parse(disruptedPods[metadata.name ?? ""] ?? "") + DELETION_MS - now;
  const waiting = known.filter((pod) => leftMs(pod) >= 0);
  const entries = waiting.map(({ metadata: { name = "" } }) => [name, disruptedPods[name] ?? ""] as const);
  return {
    pods: Object.fromEntries(entries),
    overdue: known.filter((pod) => leftMs(pod) < 0),
    againAfterMs: waiting.length === 0 ? undefined : Math.min(...waiting.map(leftMs)) + 1,
  };
}

/** Whether the expected Pods come from the owners' scale, not from a count of Pods. */
export function asksOwners({ spec }: Budget): boolean {
  return spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === "string";
}

export function desiredHealthy({ spec }: Budget, expected: number): number {
  const { maxUnavailable, minAvailable = 0 } = spec ?? {};
  if (maxUnavailable !== undefined) return Math.max(0, expected - scaledIntOrString(maxUnavailable, expected, "up"));
  return scaledIntOrString(minAvailable, expected, "up");
}

export function budgetStatus(
  budget: Budget,
  pods: readonly Pod[],
  expectedPods: number,
  disrupted: Disrupted,
  now: string,
): BudgetStatus {
  const healthy = pods.filter(
    (pod) => !isEnding(pod) && disrupted.pods[pod.metadata.name ?? ""] === undefined && isReady(pod),
  );
  const currentHealthy = healthy.length;
  const desired = desiredHealthy(budget, expectedPods);
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, currentHealthy - desired);
  const observedGeneration = budget.metadata.generation ?? 0;
  const condition = {
    type: "DisruptionAllowed",
    status: disruptionsAllowed > 0 ? "True" : "False",
    reason: disruptionsAllowed > 0 ? "SufficientPods" : "InsufficientPods",
    message: "",
    observedGeneration,
  };
  return {
    observedGeneration,
    ...(Object.keys(disrupted.pods).length > 0 && { disruptedPods: disrupted.pods }),
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy: desired,
    expectedPods,
    conditions: withCondition(budget.status?.conditions, condition, now),
  };
}

export function failedStatus({ status = {} }: Budget, message: string, now: string): BudgetStatus {
  const { observedGeneration = 0 } = status;
  const condition = { type: "DisruptionAllowed", status: "False", reason: "SyncFailed", message, observedGeneration };
  const conditions = withCondition(status.conditions, condition, now);
  return { ...status, disruptionsAllowed: 0, conditions };
}

export function sameStatus(a: BudgetStatus, b: BudgetStatus | undefined): boolean {
  return equalJson(a as unknown as Json, (b ?? {}) as unknown as Json);
}

/** lastTransitionTime changes with the status. */
function withCondition(
  all: readonly meta.Condition[] = [],
  condition: Omit<meta.Condition, "lastTransitionTime">,
  now: string,
): readonly meta.Condition[] {
  const before = all.find(({ type }) => type === condition.type);
  const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : now;
  const next = { ...condition, lastTransitionTime };
  return before === undefined ? [...all, next] : all.map((each) => (each === before ? next : each));
}
