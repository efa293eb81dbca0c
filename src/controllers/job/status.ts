/**
 * The status of a Job after a run.
 *
 * 1. The end is announced first and declared later: when the announcement is in the cache, all Pods are counted, and
 *    none is terminating.
 */
import { type batch, formatTime, instantOf } from "#api";
import { countReleased, type Settlement } from "./accounts.ts";
import { ANNOUNCES, DECLARES, type Ending } from "./ending.ts";
import { writeIndexes } from "./indexes.ts";
import { conditionOf, isSuspended, isTrue, type JobView } from "./job-view.ts";

export interface Outcome {
  readonly ending: Ending | undefined;
  readonly settlement: Settlement;
  /** Uids of Pods whose finalizers were removed. */
  readonly released: ReadonlySet<string>;
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
  /** Whether the run has created the missing Pods, or deleted those of a suspended Job. */
  readonly populated: boolean;
}

export function statusOf(view: JobView, outcome: Outcome): batch.JobStatus {
  const { status, indexes } = view;
  const { active, ready, terminating, settlement, released } = outcome;
  const counted = countReleased(view, settlement, released);
  const succeeded = indexes === undefined ? (status.succeeded ?? 0) + counted.succeeded : view.succeeded;
  const failed = (status.failed ?? 0) + counted.failed;
  const conditions = conditionsOf(view, outcome, counted.held);
  const complete = conditions.find(({ type }) => type === "Complete");
  const startTime = startTimeOf(view, conditions, outcome.ending);
  const completedIndexes = indexes === undefined ? "" : writeIndexes(indexes.succeeded);
  return {
    ...(conditions.length > 0 && { conditions }),
    ...(startTime !== undefined && { startTime }),
    ...(complete?.lastTransitionTime !== undefined && { completionTime: complete.lastTransitionTime }),
    ...(active > 0 && { active }),
    ...(succeeded > 0 && { succeeded }),
    ...(failed > 0 && { failed }),
    terminating,
    ...(completedIndexes !== "" && { completedIndexes }),
    ...(indexes?.failed !== undefined && { failedIndexes: writeIndexes(indexes.failed) }),
    uncountedTerminatedPods: counted.uncountedTerminatedPods,
    ready,
  };
}

/** Resuming a Job sets a new startTime: the deadline counts from there. */
function startTimeOf(
  { spec, status, now }: JobView,
  conditions: readonly batch.JobCondition[],
  ending: Ending | undefined,
): string | undefined {
  if (isTrue(status, "Suspended") && conditionOf({ conditions }, "Suspended")?.status === "False") return timeOf(now);
  return status.startTime ?? (isSuspended(spec) && ending === undefined ? undefined : timeOf(now));
}

function conditionsOf(
  { spec, status, now }: JobView,
  { ending, active, terminating, populated }: Outcome,
  held: number,
): readonly batch.JobCondition[] {
  const before = status.conditions ?? [];
  if (ending === undefined) return populated ? withSuspension(before, isSuspended(spec), now) : before;
  const { outcome, reason, message } = ending;
  if (!ending.announced) return [...before, condition(ANNOUNCES[outcome], "True", reason, message, now)];
  const isDone = active + terminating + held === 0;
  return isDone ? [...before, condition(DECLARES[outcome], "True", reason, message, now)] : before;
}

/** Suspended is False only if it was True before. */
function withSuspension(
  before: readonly batch.JobCondition[],
  suspended: boolean,
  now: number,
): readonly batch.JobCondition[] {
  const old = conditionOf({ conditions: before }, "Suspended");
  const wanted = suspended ? "True" : "False";
  if (old?.status === wanted || (old === undefined && !suspended)) return before;
  const next = suspended
    ? condition("Suspended", wanted, "JobSuspended", "Job suspended", now)
    : condition("Suspended", wanted, "JobResumed", "Job resumed", now);
  return old === undefined ? [...before, next] : before.map((each) => (each === old ? next : each));
}

function condition(type: string, status: string, reason: string, message: string, now: number): batch.JobCondition {
  const time = timeOf(now);
  return { type, status, lastProbeTime: time, lastTransitionTime: time, reason, message };
}

function timeOf(ms: number): string {
  return formatTime(instantOf(ms));
}
