/** Sets a condition of a Pod: lastTransitionTime changes only with the status. */
import { type core, formatTime, instantOf } from "#api";

type Condition = Pick<core.PodCondition, "type" | "status" | "reason" | "message">;

export function withCondition(pod: core.Pod, condition: Condition, now: number): core.Pod {
  const conditions = pod.status?.conditions ?? [];
  const old = conditions.find(({ type }) => type === condition.type);
  const lastTransitionTime = old?.status === condition.status ? old.lastTransitionTime : formatTime(instantOf(now));
  // Kubernetes writes null for a time that was never set.
  const next = { lastProbeTime: null, ...condition, lastTransitionTime } as unknown as core.PodCondition;
  return {
    ...pod,
    status: {
      ...pod.status,
      conditions: old === undefined ? [...conditions, next] : conditions.map((one) => (one === old ? next : one)),
    },
  };
}
