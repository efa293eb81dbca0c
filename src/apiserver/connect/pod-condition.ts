/** A Pod with a condition set: its time changes only with its status. */
import { type core, formatTime, instantOf } from "#api";

type Condition = Pick<core.PodCondition, "type" | "status" | "reason" | "message">;

export function withCondition(pod: core.Pod, condition: Condition, now: number): core.Pod {
  const conditions = pod.status?.conditions ?? [];
  const old = conditions.find(({ type }) => type === condition.type);
  const lastTransitionTime = old?.status === condition.status ? old.lastTransitionTime : formatTime(instantOf(now));
  // Null as the original writes a time that was never set.
  const next = { lastProbeTime: null, ...condition, lastTransitionTime } as unknown as core.PodCondition;
  return {
    ...pod,
    status: {
      ...pod.status,
      conditions: old === undefined ? [...conditions, next] : conditions.map((one) => (one === old ? next : one)),
    },
  };
}
