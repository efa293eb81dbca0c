/**
 * Validation of the status of a Job.
 *
 * 1. A rule applies only to a write that changes its field: a Job that was stored under older rules can still be
 *    updated.
 * 2. Counters never fall, and a finished Job stays finished.
 */
import { allNonNegative, jsonOf, same } from "../definition/field-checks.ts";
import { duplicate, type FieldError, type FieldPath, invalid, required } from "../machinery/errors/field-error.ts";
import { parseTime } from "../machinery/scalars/time.ts";
import type { Job, JobCondition, JobStatus, UncountedTerminatedPods } from "../types/batch-v1.ts";
import { IndexesError, type Interval, parseIndexes } from "./indexes.ts";
import { invalidAsWhole } from "./pod-failure-policy.ts";

export function validateJobStatusUpdate(job: Job, old: Job, root: FieldPath): readonly FieldError[] {
  const at = root.child("status");
  const now = stateOf(job);
  const before = stateOf(old);
  return [
    ...validateCounts(now.status, at),
    ...validateConditions(now, before, at),
    ...validateIndexes(job, now.status, before.status, at),
    ...validateProgress(job, now, before, at),
  ];
}

interface JobState {
  readonly status: JobStatus;
  readonly complete: boolean;
  readonly failed: boolean;
  readonly finished: boolean;
  readonly failureTarget: boolean;
  readonly successCriteriaMet: boolean;
}

function stateOf({ status = {} }: Job): JobState {
  const is = (type: string) => hasCondition(status.conditions, type);
  const complete = is("Complete");
  const failed = is("Failed");
  return {
    status,
    complete,
    failed,
    finished: complete || failed,
    failureTarget: is("FailureTarget"),
    successCriteriaMet: is("SuccessCriteriaMet"),
  };
}

function validateCounts(status: JobStatus, at: FieldPath): readonly FieldError[] {
  const { uncountedTerminatedPods: uncounted = {} } = status;
  return [
    ...allNonNegative(status, ["active", "succeeded", "failed", "ready", "terminating"], at),
    ...validateUncounted(uncounted, at.child("uncountedTerminatedPods")),
  ];
}

function validateUncounted(uncounted: UncountedTerminatedPods, at: FieldPath): readonly FieldError[] {
  const seen = new Set<string>();
  return (["succeeded", "failed"] as const).flatMap((name) =>
    (uncounted[name] ?? []).flatMap((uid, i) => {
      const uidAt = at.child(name).index(i);
      if (uid === "") return [invalid(uidAt, uid, "must not be empty")];
      if (seen.has(uid)) return [duplicate(uidAt, uid)];
      seen.add(uid);
      return [];
    }),
  );
}

/** Which conditions exclude or require each other, and what a finished Job requires. */
function validateConditions(now: JobState, before: JobState, at: FieldPath): readonly FieldError[] {
  const { status } = now;
  const was = before.status;
  const errors: FieldError[] = [];
  const differs = (...names: readonly (keyof JobStatus)[]) => names.some((name) => !same(status[name], was[name]));
  const turns = (...names: readonly Exclude<keyof JobState, "status">[]) =>
    names.some((name) => now[name] !== before[name]);
  const conditions = (why: string) => errors.push(invalidAsWhole(at.child("conditions"), why));
  const timeAt = at.child("completionTime");
  const { completionTime, startTime } = status;

  if (turns("complete", "failed") && now.complete && now.failed)
    conditions("cannot set Complete=True and Failed=true conditions");
  if (turns("complete", "failureTarget") && now.complete && now.failureTarget) {
    conditions("cannot set Complete=True and FailureTarget=true conditions");
  }
  if (turns("complete") || differs("completionTime")) {
    if (completionTime !== undefined && !now.complete) {
      errors.push(
        invalid(timeAt, completionTime, "cannot set completionTime when there is no Complete=True condition"),
      );
    }
    if (completionTime === undefined && now.complete)
      errors.push(required(timeAt, "completionTime is required for Complete jobs"));
  }
  if (differs("startTime", "completionTime") && startTime !== undefined && completionTime !== undefined) {
    if (parseTime(completionTime).seconds < parseTime(startTime).seconds) {
      errors.push(invalid(timeAt, completionTime, "completionTime cannot be set before startTime"));
    }
  }
  if (turns("failed", "failureTarget") && now.failed && !now.failureTarget) {
    conditions("cannot set Failed=True condition without the FailureTarget=true condition");
  }
  if (turns("complete", "successCriteriaMet") && now.complete && !now.successCriteriaMet) {
    conditions("cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
  }
  if (now.finished) {
    const { active = 0, terminating = 0, uncountedTerminatedPods: uncounted } = status;
    if ((turns("finished") || differs("active")) && active > 0) {
      errors.push(invalid(at.child("active"), active, "active>0 is invalid for finished job"));
    }
    if ((turns("finished") || differs("startTime")) && startTime === undefined) {
      errors.push(required(at.child("startTime"), "startTime is required for finished job"));
    }
    if ((turns("finished") || differs("terminating")) && terminating > 0) {
      errors.push(invalid(at.child("terminating"), terminating, "terminating>0 is invalid for finished job"));
    }
    const left = (uncounted?.failed?.length ?? 0) + (uncounted?.succeeded?.length ?? 0);
    if ((turns("finished") || differs("uncountedTerminatedPods")) && left > 0) {
      const why = "uncountedTerminatedPods needs to be empty for finished job";
      errors.push(invalid(at.child("uncountedTerminatedPods"), jsonOf(uncounted), why));
    }
  }
  if (differs("ready", "active") && (status.ready ?? 0) > (status.active ?? 0)) {
    errors.push(invalid(at.child("ready"), status.ready ?? 0, "cannot set more ready pods than active"));
  }
  if (now.successCriteriaMet) {
    if (now.failed) conditions("cannot set Failed=True and SuccessCriteriaMet=true conditions");
    if (now.failureTarget) conditions("cannot set FailureTarget=true and SuccessCriteriaMet=true conditions");
  }
  return errors;
}

function validateIndexes({ spec }: Job, status: JobStatus, was: JobStatus, at: FieldPath): readonly FieldError[] {
  const { completedIndexes = "", failedIndexes } = status;
  const completedChanged = completedIndexes !== (was.completedIndexes ?? "");
  const failedChanged = failedIndexes !== was.failedIndexes;
  const completedAt = at.child("completedIndexes");
  const failedAt = at.child("failedIndexes");
  const { completions } = spec ?? {};
  const errors: FieldError[] = [];
  const completed = readIndexes(completedIndexes, completions);
  const failed = readIndexes(failedIndexes ?? "", completions);

  if (completedChanged && typeof completed === "string") {
    errors.push(invalid(completedAt, completedIndexes, `error parsing completedIndexes: ${completed}`));
  }
  if (
    failedChanged &&
    failedIndexes !== undefined &&
    spec?.backoffLimitPerIndex !== undefined &&
    typeof failed === "string"
  ) {
    errors.push(invalid(failedAt, failedIndexes, `error parsing failedIndexes: ${failed}`));
  }
  if (completedChanged && completedIndexes !== "" && spec?.completionMode !== "Indexed") {
    errors.push(
      invalid(completedAt, completedIndexes, "cannot set non-empty completedIndexes when non-indexed completion mode"),
    );
  }
  if (failedChanged && failedIndexes !== undefined && spec?.backoffLimitPerIndex === undefined) {
    errors.push(
      invalid(failedAt, failedIndexes, "cannot set non-null failedIndexes when backoffLimitPerIndex is null"),
    );
  }
  if ((completedChanged || failedChanged) && typeof completed !== "string" && typeof failed !== "string") {
    const shared = firstShared(completed, failed);
    if (shared !== undefined) {
      errors.push(
        invalid(failedAt, failedIndexes ?? "", `failedIndexes and completedIndexes overlap at index: ${shared}`),
      );
    }
  }
  return errors;
}

/** The fault of the indexes, if there is one. */
function readIndexes(text: string, completions: number | undefined): readonly Interval[] | string {
  if (completions === undefined) return [];
  try {
    return parseIndexes(text, completions);
  } catch (error) {
    if (error instanceof IndexesError) return error.message;
    throw error;
  }
}

function firstShared(a: readonly Interval[], b: readonly Interval[]): number | undefined {
  for (const one of a) {
    const other = b.find(({ first, last }) => first <= one.last && last >= one.first);
    if (other !== undefined) return Math.max(one.first, other.first);
  }
  return undefined;
}

function validateProgress({ spec }: Job, now: JobState, before: JobState, at: FieldPath): readonly FieldError[] {
  const { status } = now;
  const was = before.status;
  const errors: FieldError[] = [];
  for (const [type, name] of [
    ["Failed", "failed"],
    ["Complete", "complete"],
    ["FailureTarget", "failureTarget"],
  ] as const) {
    if (before[name] && !now[name]) {
      errors.push(invalidAsWhole(at.child("conditions"), `cannot disable the terminal ${type}=True condition`));
    }
  }
  // An Indexed Job with equal completions and parallelism can be scaled down, and with it the number of succeeded pods.
  const shrinks = spec?.completionMode === "Indexed" && spec.completions === spec.parallelism;
  const falls = (name: "failed" | "succeeded") => (status[name] ?? 0) < (was[name] ?? 0);
  if (falls("failed"))
    errors.push(invalid(at.child("failed"), status.failed ?? 0, "cannot decrease the failed counter"));
  if (!shrinks && falls("succeeded")) {
    errors.push(invalid(at.child("succeeded"), status.succeeded ?? 0, "cannot decrease the succeeded counter"));
  }
  const { completionTime, startTime } = status;
  if (completionTime !== undefined && was.completionTime !== undefined && completionTime !== was.completionTime) {
    errors.push(invalid(at.child("completionTime"), completionTime, "completionTime cannot be mutated"));
  }
  // A resumed Job starts anew.
  const resumes = hasCondition(was.conditions, "Suspended") && !hasCondition(status.conditions, "Suspended");
  if (was.startTime !== undefined && startTime !== was.startTime && spec?.suspend !== true && !resumes) {
    const what = startTime === undefined ? "removed" : "updated";
    errors.push(required(at.child("startTime"), `startTime cannot be ${what} for unsuspended job`));
  }
  return errors;
}

export function hasCondition(conditions: readonly JobCondition[] | undefined, type: string): boolean {
  return (conditions ?? []).some((condition) => condition.type === type && condition.status === "True");
}
