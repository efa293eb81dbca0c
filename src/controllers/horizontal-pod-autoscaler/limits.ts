/** What bounds a recommendation: the minimum, the maximum, and how fast the number may change. */
import type { autoscaling } from "#api";
import { changedWithin, type History } from "./history.ts";

const UP_FACTOR = 2;
const UP_AT_LEAST = 4;
const MAX_INT32 = 2 ** 31 - 1;

export interface Bounds {
  readonly currentReplicas: number;
  readonly minReplicas: number;
  readonly maxReplicas: number;
}

export interface Limited {
  readonly replicas: number;
  readonly reason: string;
  readonly message: string;
}

const WITHIN = { reason: "DesiredWithinRange", message: "the desired count is within the acceptable range" };
const TOO_FEW = {
  reason: "TooFewReplicas",
  message: "the desired replica count is less than the minimum replica count",
};
const TOO_MANY = {
  reason: "TooManyReplicas",
  message: "the desired replica count is more than the maximum replica count",
};
const TOO_FAST_UP = {
  reason: "ScaleUpLimit",
  message: "the desired replica count is increasing faster than the maximum scale rate",
};
const TOO_FAST_DOWN = {
  reason: "ScaleDownLimit",
  message: "the desired replica count is decreasing faster than the maximum scale rate",
};

/** Without a behavior: at most twice as many at a time, or 4. */
export function limitPlainly(replicas: number, { currentReplicas, minReplicas, maxReplicas }: Bounds): Limited {
  const upTo = Math.max(UP_FACTOR * currentReplicas, UP_AT_LEAST);
  if (replicas < minReplicas) return { replicas: minReplicas, ...TOO_FEW };
  if (replicas <= Math.min(maxReplicas, upTo)) return { replicas, ...WITHIN };
  return maxReplicas > upTo ? { replicas: upTo, ...TOO_FAST_UP } : { replicas: maxReplicas, ...TOO_MANY };
}

/** With the policies of a behavior. */
export function limitByPolicies(
  replicas: number,
  { currentReplicas, minReplicas, maxReplicas }: Bounds,
  { scaleUp, scaleDown }: autoscaling.HorizontalPodAutoscalerBehavior,
  history: History,
  now: number,
): Limited {
  if (replicas > currentReplicas) {
    const upTo = Math.max(currentReplicas, highest(currentReplicas, scaleUp, history, now));
    if (replicas <= Math.min(maxReplicas, upTo)) return { replicas, ...WITHIN };
    return maxReplicas > upTo ? { replicas: upTo, ...TOO_FAST_UP } : { replicas: maxReplicas, ...TOO_MANY };
  }
  if (replicas < currentReplicas) {
    const downTo = Math.min(currentReplicas, lowest(currentReplicas, scaleDown, history, now));
    if (replicas >= Math.max(minReplicas, downTo)) return { replicas, ...WITHIN };
    return minReplicas < downTo ? { replicas: downTo, ...TOO_FAST_DOWN } : { replicas: minReplicas, ...TOO_FEW };
  }
  return { replicas, ...WITHIN };
}

type Rules = autoscaling.HPAScalingRules | undefined;

/** A part of a replica is rounded up: otherwise a small number would never grow. */
function highest(currentReplicas: number, rules: Rules, history: History, now: number): number {
  if (rules?.selectPolicy === "Disabled") return currentReplicas;
  const proposals = (rules?.policies ?? []).map((policy) => {
    const start = atPeriodStart(currentReplicas, policy.periodSeconds, history, now);
    const proposed = policy.type === "Percent" ? Math.ceil(start * (1 + policy.value / 100)) : start + policy.value;
    return Math.min(MAX_INT32, proposed);
  });
  return rules?.selectPolicy === "Min" ? Math.min(...proposals) : Math.max(...proposals);
}

function lowest(currentReplicas: number, rules: Rules, history: History, now: number): number {
  if (rules?.selectPolicy === "Disabled") return currentReplicas;
  const proposals = (rules?.policies ?? []).map((policy) => {
    const start = atPeriodStart(currentReplicas, policy.periodSeconds, history, now);
    return policy.type === "Percent" ? Math.trunc(start * (1 - policy.value / 100)) : start - policy.value;
  });
  return rules?.selectPolicy === "Min" ? Math.max(...proposals) : Math.min(...proposals);
}

function atPeriodStart(currentReplicas: number, periodSeconds: number, history: History, now: number): number {
  const added = changedWithin(history.added, periodSeconds, now);
  const removed = changedWithin(history.removed, periodSeconds, now);
  return currentReplicas - added + removed;
}
