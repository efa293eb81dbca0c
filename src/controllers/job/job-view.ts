/**
 * A Job and its Pods from the caches, with counts.
 *
 * 1. A Pod counts through exactly one of: its finalizer, its uid in `status.uncountedTerminatedPods`, or a counter of
 *    the status. Successes of an index count through the index only.
 */
import type { batch } from "#api";
import { isActive, isEnding, isFinished, type Pod } from "../pods/index.ts";
import { countIndexes, hasIndex, type Indexes, indexesOf, readIndexes, union } from "./indexes.ts";
import { earlierFailures, finishedAt, hasFailed, hasSucceeded, indexOfPod, isTracked, uidOf } from "./job-pod.ts";
import { type Judgement, judge } from "./pod-failure-policy.ts";

export type Job = batch.Job;

const BUILT_IN = "kubernetes.io/job-controller";

export interface JobView {
  readonly job: Job;
  readonly spec: batch.JobSpec;
  readonly status: batch.JobStatus;
  readonly now: number;
  /** All Pods of the Job. */
  readonly pods: readonly Pod[];
  readonly active: readonly Pod[];
  readonly terminating: readonly Pod[];
  readonly uncounted: { readonly succeeded: ReadonlySet<string>; readonly failed: ReadonlySet<string> };
  /** Succeeded and failed Pods, including those that the status does not contain yet. */
  readonly succeeded: number;
  readonly failed: number;
  /** For Indexed Jobs. */
  readonly indexes?: IndexView | undefined;
}

export interface IndexView {
  readonly completions: number;
  /** The succeeded indexes in the status. */
  readonly recorded: Indexes;
  readonly succeeded: Indexes;
  /** With backoffLimitPerIndex. */
  readonly failed?: Indexes;
  /**
   * The last failed Pod of each index without an active Pod: it has the failure count, and stays until the next one has
   * it.
   */
  readonly lastFailed: ReadonlyMap<number, Pod>;
}

export function viewOf(job: Job, pods: readonly Pod[], now: number): JobView {
  const { status = {}, spec = { template: {} } } = job;
  const { uncountedTerminatedPods: { succeeded = [], failed = [] } = {} } = status;
  const uncounted = { succeeded: new Set(succeeded), failed: new Set(failed) };
  const active = pods.filter(isActive);
  const fresh = pods.filter((pod) => isTracked(pod) && isOfValidIndex(pod, spec));
  const freshSuccesses = fresh.filter((pod) => hasSucceeded(pod) && !uncounted.succeeded.has(uidOf(pod)));
  const freshFailures = fresh.filter(
    (pod) => hasFailed(pod, spec) && !uncounted.failed.has(uidOf(pod)) && judgementOf(spec, pod).counts,
  );
  const indexes = spec.completionMode === "Indexed" ? indexViewOf(spec, status, fresh, active) : undefined;
  return {
    job,
    spec,
    status,
    now,
    pods,
    active,
    terminating: pods.filter((pod) => isEnding(pod) && !isFinished(pod)),
    uncounted,
    succeeded:
      indexes === undefined
        ? (status.succeeded ?? 0) + freshSuccesses.length + succeeded.length
        : countIndexes(indexes.succeeded),
    failed: (status.failed ?? 0) + freshFailures.length + failed.length,
    indexes,
  };
}

function indexViewOf(
  spec: batch.JobSpec,
  status: batch.JobStatus,
  fresh: readonly Pod[],
  active: readonly Pod[],
): IndexView {
  const { completions = 0, backoffLimitPerIndex: limit } = spec;
  const recorded = readIndexes(status.completedIndexes ?? "", completions);
  const succeeded = union(recorded, indexesOf(indexesOfPods(fresh.filter(hasSucceeded))));
  if (limit === undefined) return { completions, recorded, succeeded, lastFailed: new Map() };
  // While a Job is ending, its Pods are deleted: this does not fail their indexes.
  const isDecided = isTrue(status, "FailureTarget") || isTrue(status, "SuccessCriteriaMet");
  const lost = isDecided ? [] : fresh.filter((pod) => losesIndex(pod, spec, limit));
  const failed = union(readIndexes(status.failedIndexes ?? "", completions), indexesOf(indexesOfPods(lost)));
  const running = new Set(indexesOfPods(active));
  const lastFailed = new Map<number, Pod>();
  for (const pod of fresh.filter((each) => hasFailed(each, spec))) {
    const index = indexOfPod(pod) ?? 0;
    if (hasIndex(succeeded, index) || hasIndex(failed, index) || running.has(index)) continue;
    const other = lastFailed.get(index);
    if (other === undefined || isLater(pod, other)) lastFailed.set(index, pod);
  }
  return { completions, recorded, succeeded, failed, lastFailed };
}

function losesIndex(pod: Pod, spec: batch.JobSpec, limit: number): boolean {
  if (!hasFailed(pod, spec)) return false;
  const { action, counts } = judgementOf(spec, pod);
  return action === "FailIndex" || (counts && earlierFailures(pod).counted >= limit);
}

function isLater(pod: Pod, other: Pod): boolean {
  const total = (each: Pod) => earlierFailures(each).counted + earlierFailures(each).ignored;
  return total(other) <= total(pod) && finishedAt(pod) >= finishedAt(other);
}

export function judgementOf({ podFailurePolicy }: batch.JobSpec, pod: Pod): Judgement {
  return judge(podFailurePolicy, pod);
}

/** In an Indexed Job, only Pods with a valid index count. */
export function isOfValidIndex(pod: Pod, { completionMode, completions = 0 }: batch.JobSpec): boolean {
  if (completionMode !== "Indexed") return true;
  const index = indexOfPod(pod);
  return index !== undefined && index < completions;
}

export function indexesOfPods(pods: readonly Pod[]): readonly number[] {
  return pods.map(indexOfPod).filter((index) => index !== undefined);
}

export function isSuspended({ suspend }: batch.JobSpec): boolean {
  return suspend === true;
}

export function isFinishedJob({ status }: Job): boolean {
  return isTrue(status, "Complete") || isTrue(status, "Failed");
}

export function isTrue(status: batch.JobStatus | undefined, type: string): boolean {
  return conditionOf(status, type)?.status === "True";
}

export function conditionOf(status: batch.JobStatus | undefined, type: string): batch.JobCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** spec.managedBy names another controller. */
export function isManagedElsewhere({ spec }: Job): boolean {
  return spec?.managedBy !== undefined && spec.managedBy !== BUILT_IN;
}
