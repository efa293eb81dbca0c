/**
 * Facts from a CronJob's Jobs: which run, the last scheduled time, the last success, and which exceed the history
 * limits.
 */
import { type batch, type core, parseTime, toMs } from "#api";
import type { RecordedEvent } from "#client";
import { eventsOf } from "./events.ts";
import { scheduledTimeOf } from "./new-job.ts";

type CronJob = batch.CronJob;
type Job = batch.Job;

export interface KnownJobs {
  /** For the status: running Jobs that it lists, and newly created ones. */
  readonly active: readonly core.ObjectReference[];
  /** Those of them that exist in the cache. */
  readonly running: readonly Job[];
  readonly lastScheduled?: number | undefined;
  readonly lastSuccessful?: string | undefined;
  readonly events: readonly RecordedEvent[];
}

export function knownJobs({
  cronJob,
  jobs,
  gone,
}: {
  readonly cronJob: CronJob;
  readonly jobs: readonly Job[];
  readonly gone: ReadonlySet<string>;
}): KnownJobs {
  const { active: listed = [], lastScheduleTime } = cronJob.status ?? {};
  const event = eventsOf(cronJob);
  const byUid = new Map(jobs.map((job) => [job.metadata.uid, job]));
  const events: RecordedEvent[] = [];
  const active: core.ObjectReference[] = [];
  for (const reference of listed) {
    const job = byUid.get(reference.uid);
    const end = job === undefined ? undefined : endOf(job);
    if (gone.has(reference.uid ?? ""))
      events.push(event("Normal", "MissingJob", `Active job went missing: ${reference.name}`));
    else if (end !== undefined)
      events.push(event("Normal", "SawCompletedJob", `Saw completed job: ${reference.name}, condition: ${end}`));
    else active.push(reference);
  }
  const isListed = new Set(listed.map(({ uid }) => uid));
  const times = lastScheduleTime === undefined ? [] : [msOf(lastScheduleTime)];
  for (const job of inOrderOfStart(jobs)) {
    const at = scheduledTimeOf(cronJob, job);
    if (at !== undefined) times.push(at);
    if (isListed.has(job.metadata.uid) || endOf(job) !== undefined || job.metadata.deletionTimestamp !== undefined)
      continue;
    if (at !== undefined) active.push(referenceTo(job));
    else {
      const note = `Saw a job that the controller did not create or forgot: ${job.metadata.name}`;
      events.push(event("Warning", "UnexpectedJob", note));
    }
  }
  return {
    active,
    running: active.map(({ uid }) => byUid.get(uid)).filter((job) => job !== undefined),
    lastScheduled: times.length > 0 ? Math.max(...times) : undefined,
    lastSuccessful: lastSuccess(cronJob, jobs),
    events,
  };
}

/** The oldest finished Jobs beyond the history limits for successes and failures. */
export function jobsTooOld({
  cronJob,
  jobs,
}: {
  readonly cronJob: CronJob;
  readonly jobs: readonly Job[];
}): readonly Job[] {
  const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = cronJob.spec;
  const staying = inOrderOfStart(jobs).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return (
    [
      ["Complete", successfulJobsHistoryLimit],
      ["Failed", failedJobsHistoryLimit],
    ] as const
  ).flatMap(([type, limit = Infinity]) => {
    const finished = staying.filter((job) => endOf(job) === type);
    return finished.slice(0, Math.max(0, finished.length - limit)).filter((job) => isTold(cronJob, job));
  });
}

/** Whether the status already has everything that is to be known of a finished Job. */
function isTold(cronJob: CronJob, job: Job): boolean {
  const { active = [], lastScheduleTime, lastSuccessfulTime } = cronJob.status ?? {};
  const isReached = (time: number | undefined, last: string | undefined) =>
    time === undefined || (last !== undefined && time <= msOf(last));
  return (
    !active.some(({ uid }) => uid === job.metadata.uid) &&
    isReached(scheduledTimeOf(cronJob, job), lastScheduleTime) &&
    isReached(msOf(job.status?.completionTime), lastSuccessfulTime)
  );
}

function msOf(time: string): number;
function msOf(time: string | undefined): number | undefined;
function msOf(time: string | undefined): number | undefined {
  return time === undefined ? undefined : toMs(parseTime(time));
}

function endOf({ status }: Job): "Complete" | "Failed" | undefined {
  const isTrue = (wanted: string) =>
    status?.conditions?.some(({ type, status: is }) => type === wanted && is === "True") === true;
  return isTrue("Complete") ? "Complete" : isTrue("Failed") ? "Failed" : undefined;
}

function lastSuccess({ status }: CronJob, jobs: readonly Job[]): string | undefined {
  const times = jobs.filter((job) => endOf(job) === "Complete").map((job) => job.status?.completionTime);
  return [status?.lastSuccessfulTime, ...times]
    .filter((time) => time !== undefined)
    .reduce<string | undefined>((last, time) => (last === undefined || time > last ? time : last), undefined);
}

/** Jobs that have not started come last. */
function inOrderOfStart(jobs: readonly Job[]): readonly Job[] {
  const rank = ({ metadata, status }: Job) => `${status?.startTime ?? "~"} ${metadata.name}`;
  return [...jobs].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

function referenceTo({ metadata }: Job): core.ObjectReference {
  const { name = "", namespace = "", uid = "", resourceVersion = "" } = metadata;
  return { kind: "Job", namespace, name, uid, apiVersion: "batch/v1", resourceVersion };
}
