/**
 * The status of an autoscaler while it is worked on.
 *
 * 1. A condition keeps its time of transition while its status stays the same, and its place in the list.
 */
import { type autoscaling, equalJson, formatTime, instantOf, type Json } from "#api";

type Status = autoscaling.HorizontalPodAutoscalerStatus;
type Condition = autoscaling.HorizontalPodAutoscalerCondition;

export type ConditionType = "AbleToScale" | "ScalingActive" | "ScalingLimited" | "ScaledToZero";

export function withCondition(
  conditions: readonly Condition[],
  type: ConditionType,
  isTrue: boolean,
  { reason, message }: { readonly reason: string; readonly message: string },
  now: number,
): readonly Condition[] {
  const status = isTrue ? "True" : "False";
  const before = conditions.find((each) => each.type === type);
  const lastTransitionTime =
    before?.status === status && before.lastTransitionTime !== undefined
      ? before.lastTransitionTime
      : formatTime(instantOf(now));
  const after = { type, status, lastTransitionTime, reason, message };
  return before === undefined ? [...conditions, after] : conditions.map((each) => (each === before ? after : each));
}

export interface Figures {
  readonly currentReplicas: number;
  readonly desiredReplicas: number;
  /** Undefined: no metric was looked at. */
  readonly metrics: readonly autoscaling.MetricStatus[] | undefined;
  readonly conditions: readonly Condition[];
  /** The target was scaled now. */
  readonly scaledAt?: number | undefined;
}

export function statusOf(
  before: Status | undefined,
  { currentReplicas, desiredReplicas, metrics, conditions, scaledAt }: Figures,
): Status {
  const lastScaleTime = scaledAt === undefined ? before?.lastScaleTime : formatTime(instantOf(scaledAt));
  const { observedGeneration } = before ?? {};
  return {
    ...(observedGeneration !== undefined && { observedGeneration }),
    ...(lastScaleTime !== undefined && { lastScaleTime }),
    currentReplicas,
    desiredReplicas,
    ...(metrics !== undefined && { currentMetrics: metrics }),
    conditions,
  };
}

/** The server shows null for absent metrics. */
export function isSameStatus(a: Status | undefined, b: Status): boolean {
  const shown = (status: Status | undefined) =>
    ({ ...status, currentMetrics: status?.currentMetrics ?? null }) as unknown as Json;
  return equalJson(shown(a), shown(b));
}
