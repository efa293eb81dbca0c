/** activeDeadlineSeconds. */
import { type core, parseTime, toMs } from "#api";

/** Why a node fails a Pod: rejected, past its deadline, evicted, … */
export interface PodFailure {
  readonly reason: string;
  readonly message: string;
}

export const DEADLINE_EXCEEDED: PodFailure = {
  reason: "DeadlineExceeded",
  message: "Pod was active on the node longer than the specified deadline",
};

/** Infinity if the Pod has no deadline, or has not started. */
export function deadlineMs({ spec }: core.Pod, startTime: string | undefined): number {
  const { activeDeadlineSeconds } = spec ?? {};
  if (activeDeadlineSeconds === undefined || startTime === undefined) return Number.POSITIVE_INFINITY;
  return toMs(parseTime(startTime)) + Number(activeDeadlineSeconds) * 1000;
}
