/** What the Job controller reads from a Pod, and writes to it. */
import { type batch, type JsonObject, kinds, parseTime, toMs } from "#api";
import { isEnding, type Pod, readyCondition } from "../pods/index.ts";
import type { Write } from "../runtime/index.ts";

/** While a Pod has this finalizer, the Job has not counted it. */
export const TRACKING = "batch.kubernetes.io/job-tracking";
/** A label and an annotation. */
export const COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index";
/** Failed Pods of the same index before this one: counted and ignored ones. */
export const INDEX_FAILURES = "batch.kubernetes.io/job-index-failure-count";
export const INDEX_IGNORED_FAILURES = "batch.kubernetes.io/job-index-ignored-failure-count";

const MAX_COUNT = 2 ** 31 - 1;

export function isTracked({ metadata }: Pod): boolean {
  return metadata.finalizers?.includes(TRACKING) === true;
}

export function uidOf({ metadata }: Pod): string {
  return metadata.uid ?? "";
}

export function indexOfPod({ metadata }: Pod): number | undefined {
  const text = metadata.annotations?.[COMPLETION_INDEX];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

export function hasSucceeded({ status }: Pod): boolean {
  return status?.phase === "Succeeded";
}

/**
 * A terminating Pod counts as failed at once, because it may never report it, unless podReplacementPolicy is Failed.
 */
export function hasFailed(pod: Pod, { podReplacementPolicy }: Pick<batch.JobSpec, "podReplacementPolicy">): boolean {
  if (pod.status?.phase === "Failed") return true;
  return podReplacementPolicy !== "Failed" && isEnding(pod) && !hasSucceeded(pod);
}

export interface FailureCounts {
  readonly counted: number;
  readonly ignored: number;
}

export function earlierFailures({ metadata }: Pod): FailureCounts {
  const read = (annotation: string) => {
    const text = metadata.annotations?.[annotation] ?? "";
    return /^\d+$/.test(text) && Number(text) <= MAX_COUNT ? Number(text) : 0;
  };
  return { counted: read(INDEX_FAILURES), ignored: read(INDEX_IGNORED_FAILURES) };
}

/**
 * When a Pod ended: when its last container did; else when it became unready; else when it was deleted; else, without a
 * node, when it was created.
 */
export function finishedAt(pod: Pod): number {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp } = pod.metadata;
  const containers = containersFinishedAt(pod);
  if (containers !== undefined) return containers;
  const ready = readyCondition(pod);
  if (ready?.status === "False" && ready.lastTransitionTime !== undefined) return msOf(ready.lastTransitionTime);
  if (deletionTimestamp !== undefined) return msOf(deletionTimestamp) - Number(deletionGracePeriodSeconds) * 1000;
  return creationTimestamp === undefined ? 0 : msOf(creationTimestamp);
}

function containersFinishedAt({ spec, status }: Pod): number | undefined {
  const sidecars = new Set(
    (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always").map(({ name }) => name),
  );
  const statuses = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)),
  ];
  const times = statuses.map(({ state }) => state?.terminated?.finishedAt);
  if (times.length === 0 || times.some((time) => time === undefined)) return undefined;
  return Math.max(...times.map((time) => msOf(time ?? "")));
}

/** Removes the tracking finalizer. */
export function letGo(pod: Pod): Write {
  const patch: JsonObject = { metadata: { uid: uidOf(pod), "$deleteFromPrimitiveList/finalizers": [TRACKING] } };
  return { verb: "patch", resource: kinds.Pod, object: pod, type: "strategic", patch };
}

export function msOf(time: string): number {
  return toMs(parseTime(time));
}
