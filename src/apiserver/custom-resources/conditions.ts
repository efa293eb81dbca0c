/** Conditions of a definition's status, as values. */
import { type ConditionFacts, formatTime, instantOf } from "#api";
import type { Definition } from "./definition.ts";

export type ConditionType =
  | "Established"
  | "KubernetesAPIApprovalPolicyConformant"
  | "NamesAccepted"
  | "NonStructuralSchema"
  | "Terminating";

type Conditions = NonNullable<NonNullable<Definition["status"]>["conditions"]>;

export function conditionsOf({ status }: Definition): Conditions {
  return status?.conditions ?? [];
}

/**
 * A new condition comes last; the time is that of the last change of its status. Undefined: without the condition. The list itself if it says all
 * that already.
 */
export function withCondition(
  conditions: Conditions,
  type: ConditionType,
  facts: ConditionFacts | undefined,
  now: number,
): Conditions {
  const before = conditions.find((condition) => condition.type === type);
  if (facts === undefined) return before === undefined ? conditions : conditions.filter((it) => it !== before);
  const { status, reason, message } = facts;
  if (before !== undefined && before.status === status && before.reason === reason && before.message === message) {
    return conditions;
  }
  const lastTransitionTime =
    before?.status === status && before.lastTransitionTime !== undefined
      ? before.lastTransitionTime
      : formatTime(instantOf(now));
  const after = { type, status, lastTransitionTime, reason, message };
  if (before === undefined) return [...conditions, after];
  return conditions.map((condition) => (condition === before ? after : condition));
}
