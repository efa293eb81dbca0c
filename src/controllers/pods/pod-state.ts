/** Predicates on Pods. */
import type { core } from "#api";

export type Pod = core.Pod;

export function isEnding({ metadata }: Pick<Pod, "metadata">): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function isFinished({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** Counts as a replica: neither finished nor terminating. */
export function isActive(pod: Pod): boolean {
  return !isFinished(pod) && !isEnding(pod);
}

export function readyCondition({ status }: Pod) {
  return status?.conditions?.find(({ type }) => type === "Ready");
}

export function isReady(pod: Pod): boolean {
  return readyCondition(pod)?.status === "True";
}

/** Time until a ready Pod is available: 0 if it is, undefined if it is not ready. */
export function availableInMs(pod: Pod, minReadySeconds: number, now: number): number | undefined {
  const condition = readyCondition(pod);
  if (condition?.status !== "True") return undefined;
  if (minReadySeconds === 0) return 0;
  const since = condition.lastTransitionTime === undefined ? now : Date.parse(condition.lastTransitionTime);
  return Math.max(0, since + minReadySeconds * 1000 - now);
}

export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  return availableInMs(pod, minReadySeconds, now) === 0;
}
