/** Whether a Job has to end, and why. A decision in the status is final; failures go before successes. */
import type { batch } from "#api";
import { countIndexes } from "./indexes.ts";
import { hasFailed, msOf } from "./job-pod.ts";
import { conditionOf, isSuspended, isTrue, type JobView, judgementOf } from "./job-view.ts";
import { metSuccessRule } from "./success-policy.ts";

export interface Ending {
  readonly outcome: "success" | "failure";
  readonly reason: string;
  readonly message: string;
  /** The decision is in the status: the Job can be cleaned up and declared finished. */
  readonly announced: boolean;
}

/** The condition that announces the end, and the one that declares it. */
export const ANNOUNCES = { success: "SuccessCriteriaMet", failure: "FailureTarget" } as const;
export const DECLARES = { success: "Complete", failure: "Failed" } as const;

export function endingOf(view: JobView): Ending | undefined {
  return announcedEnding(view.status) ?? failureOf(view) ?? successByPolicy(view);
}

/** Enough Pods have succeeded and none is running. `running`: the number after the plan is executed. */
export function completionOf({ spec, succeeded }: JobView, running: number): Ending | undefined {
  if (running > 0 || succeeded < (spec.completions ?? 1)) return undefined;
  return {
    outcome: "success",
    reason: "CompletionsReached",
    message: "Reached expected number of succeeded pods",
    announced: false,
  };
}

/** The time until activeDeadlineSeconds of an unsuspended Job; undefined without a deadline. */
export function remainingMs({ spec, status, now }: JobView): number | undefined {
  const { activeDeadlineSeconds } = spec;
  if (activeDeadlineSeconds === undefined || isSuspended(spec)) return undefined;
  // Resuming a Job restarts its deadline.
  const started = isTrue(status, "Suspended") || status.startTime === undefined ? now : msOf(status.startTime);
  return Math.max(0, started + Number(activeDeadlineSeconds) * 1000 - now);
}

function announcedEnding(status: batch.JobStatus): Ending | undefined {
  for (const outcome of ["success", "failure"] as const) {
    const condition = conditionOf(status, ANNOUNCES[outcome]);
    if (condition?.status !== "True") continue;
    return { outcome, reason: condition.reason ?? "", message: condition.message ?? "", announced: true };
  }
  return undefined;
}

function failureOf(view: JobView): Ending | undefined {
  const { spec, pods, failed, indexes } = view;
  const fails = (reason: string, message: string): Ending => ({
    outcome: "failure",
    reason,
    message,
    announced: false,
  });
  if (spec.podFailurePolicy !== undefined) {
    for (const pod of pods) {
      const because = hasFailed(pod, spec) ? judgementOf(spec, pod).failsJob : undefined;
      if (because !== undefined) return fails("PodFailurePolicy", because);
    }
  }
  if (failed > backoffLimit(spec) || restartsExceedLimit(view))
    return fails("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  if (remainingMs(view) === 0) return fails("DeadlineExceeded", "Job was active longer than specified deadline");
  if (indexes?.failed === undefined) return undefined;
  const lost = countIndexes(indexes.failed);
  if (lost > (spec.maxFailedIndexes ?? Infinity))
    return fails("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes");
  if (lost > 0 && lost + countIndexes(indexes.succeeded) >= indexes.completions)
    return fails("FailedIndexes", "Job has failed indexes");
  return undefined;
}

function successByPolicy({ spec, indexes }: JobView): Ending | undefined {
  if (indexes === undefined) return undefined;
  const message = metSuccessRule(spec.successPolicy, indexes.succeeded, indexes.completions);
  return message === undefined ? undefined : { outcome: "success", reason: "SuccessPolicy", message, announced: false };
}

function backoffLimit({ backoffLimit: limit, backoffLimitPerIndex }: batch.JobSpec): number {
  return limit ?? (backoffLimitPerIndex === undefined ? 6 : Infinity);
}

/** With restartPolicy OnFailure, container restarts count instead of Pods. */
function restartsExceedLimit({ spec, pods }: JobView): boolean {
  if (spec.template.spec?.restartPolicy !== "OnFailure") return false;
  const restarts = pods
    .filter(({ status }) => status?.phase === "Running" || status?.phase === "Pending")
    .flatMap(({ status }) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
    .reduce((sum, { restartCount }) => sum + restartCount, 0);
  return restarts >= Math.max(1, backoffLimit(spec));
}
