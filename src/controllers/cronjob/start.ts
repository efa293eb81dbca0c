/** Whether a CronJob has to start a Job now, and what prevents it. */
import { type batch, goQuote, parseTime, toMs } from "#api";
import type { RecordedEvent } from "#client";
import { dueAt, type Timetable } from "./due.ts";
import { eventsOf, type RecordsEvent } from "./events.ts";
import type { KnownJobs } from "./known-jobs.ts";
import { jobName } from "./new-job.ts";
import type { Facts } from "./plan.ts";
import { readSchedule } from "./schedule.ts";
import { timeZone } from "./time-zone.ts";

type CronJob = batch.CronJob;

export interface Start {
  readonly events: readonly RecordedEvent[];
  /** The scheduled time to create a Job for. */
  readonly create?: number;
  /** Jobs to delete first (concurrencyPolicy Replace). */
  readonly replaced?: readonly batch.Job[];
  /** When to reconcile again. */
  readonly next?: number | undefined;
}

export function startOf({ cronJob, isTaken, now }: Facts, known: KnownJobs): Start {
  const { suspend = false, schedule, concurrencyPolicy, startingDeadlineSeconds } = cronJob.spec;
  const event = eventsOf(cronJob);
  const timetable = timetableOf(cronJob, event);
  if ("reason" in timetable) return { events: [timetable] };
  if (suspend) return { events: [] };
  const odd = schedule.includes("TZ") ? [oddSchedule(schedule, event)] : [];
  const due = dueAt(timetable, {
    since: known.lastScheduled ?? toMs(parseTime(cronJob.metadata.creationTimestamp ?? "")),
    now,
    deadlineMs: startingDeadlineSeconds === undefined ? undefined : Number(startingDeadlineSeconds) * 1000,
  });
  if (due === undefined) {
    const why = "time difference between two schedules is less than 1 second";
    return { events: [...odd, event("Warning", "InvalidSchedule", `invalid schedule: ${schedule} : ${why}`)] };
  }
  const { at, next, manyMissed } = due;
  const waits = { events: odd, next };
  // Names have a resolution of a minute: a second time within a minute uses the same Job.
  if (at === undefined || isTaken(jobName(cronJob, at))) return waits;
  if (concurrencyPolicy === "Forbid" && known.active.length > 0) {
    const note = "Not starting job because prior execution is running and concurrency policy is Forbid";
    return { ...waits, events: [...odd, event("Normal", "JobAlreadyActive", note)] };
  }
  const replaced = concurrencyPolicy === "Replace" ? known.running : [];
  // A running Job that the cache does not show yet cannot be replaced yet.
  if (concurrencyPolicy === "Replace" && replaced.length < known.active.length) return waits;
  return { ...waits, create: at, replaced, events: [...odd, ...(manyMissed ? [tooManyMissed(event)] : [])] };
}

function timetableOf({ spec }: CronJob, event: RecordsEvent): Timetable | RecordedEvent {
  const { timeZone: zone = "" } = spec;
  const offsetAt = timeZone(zone);
  if (offsetAt === undefined)
    return event("Warning", "UnknownTimeZone", `invalid timeZone: ${goQuote(zone)}: unknown time zone ${zone}`);
  const schedule = readSchedule(spec.schedule);
  if (typeof schedule === "string")
    return event("Warning", "UnparseableSchedule", `unparseable schedule: ${goQuote(spec.schedule)} : ${schedule}`);
  const own = "timeZone" in schedule ? timeZone(schedule.timeZone) : undefined;
  return { schedule, offsetAt: own ?? offsetAt };
}

function oddSchedule(schedule: string, event: RecordsEvent): RecordedEvent {
  const where = "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/";
  const note = `CRON_TZ or TZ used in schedule ${goQuote(schedule)} is not officially supported, see ${where} for more details`;
  return event("Warning", "UnsupportedSchedule", note);
}

function tooManyMissed(event: RecordsEvent): RecordedEvent {
  const note = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
  return event("Warning", "TooManyMissedTimes", note);
}
