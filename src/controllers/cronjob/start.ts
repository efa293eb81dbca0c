/** Whether a CronJob has to start a Job now, and what stands against it. */
import { type batch, goQuote, parseTime, toMs } from "#api";
import type { RecordedEvent } from "#client";
import { dueAt, type Timetable } from "./due.ts";
import { eventsOf, type Tells } from "./events.ts";
import type { KnownJobs } from "./known-jobs.ts";
import { jobName } from "./new-job.ts";
import type { Facts } from "./plan.ts";
import { readSchedule } from "./schedule.ts";
import { timeZone } from "./time-zone.ts";

type CronJob = batch.CronJob;

export interface Start {
  readonly events: readonly RecordedEvent[];
  /** A Job for this time. */
  readonly create?: number;
  /** Jobs that give way to it. */
  readonly replaced?: readonly batch.Job[];
  /** When to look again. */
  readonly next?: number;
}

export function startOf({ cronJob, isTaken, now }: Facts, known: KnownJobs): Start {
  const { suspend = false, schedule, concurrencyPolicy, startingDeadlineSeconds } = cronJob.spec;
  const tells = eventsOf(cronJob);
  const timetable = timetableOf(cronJob, tells);
  if ("reason" in timetable) return { events: [timetable] };
  if (suspend) return { events: [] };
  const odd = schedule.includes("TZ") ? [oddSchedule(schedule, tells)] : [];
  const due = dueAt(timetable, {
    since: known.lastScheduled ?? toMs(parseTime(cronJob.metadata.creationTimestamp ?? "")),
    now,
    ...(startingDeadlineSeconds !== undefined && { deadlineMs: startingDeadlineSeconds * 1000 }),
  });
  if (due === undefined) {
    const why = "time difference between two schedules is less than 1 second";
    return { events: [...odd, tells("Warning", "InvalidSchedule", `invalid schedule: ${schedule} : ${why}`)] };
  }
  const { at, next, manyMissed } = due;
  const waits = { events: odd, ...(next !== undefined && { next }) };
  // Names tell minutes apart: a second time within a minute is met with the first.
  if (at === undefined || isTaken(jobName(cronJob, at))) return waits;
  if (concurrencyPolicy === "Forbid" && known.active.length > 0) {
    const note = "Not starting job because prior execution is running and concurrency policy is Forbid";
    return { ...waits, events: [...odd, tells("Normal", "JobAlreadyActive", note)] };
  }
  const replaced = concurrencyPolicy === "Replace" ? known.running : [];
  // One that runs but is not seen yet cannot be replaced yet: it is seen soon.
  if (concurrencyPolicy === "Replace" && replaced.length < known.active.length) return waits;
  return { ...waits, create: at, replaced, events: [...odd, ...(manyMissed ? [tooManyMissed(tells)] : [])] };
}

function timetableOf({ spec }: CronJob, tells: Tells): Timetable | RecordedEvent {
  const { timeZone: zone = "" } = spec;
  const offsetAt = timeZone(zone);
  if (offsetAt === undefined)
    return tells("Warning", "UnknownTimeZone", `invalid timeZone: ${goQuote(zone)}: unknown time zone ${zone}`);
  const schedule = readSchedule(spec.schedule);
  if (typeof schedule === "string")
    return tells("Warning", "UnparseableSchedule", `unparseable schedule: ${goQuote(spec.schedule)} : ${schedule}`);
  const own = "timeZone" in schedule ? timeZone(schedule.timeZone) : undefined;
  return { schedule, offsetAt: own ?? offsetAt };
}

function oddSchedule(schedule: string, tells: Tells): RecordedEvent {
  const where = "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/";
  const note = `CRON_TZ or TZ used in schedule ${goQuote(schedule)} is not officially supported, see ${where} for more details`;
  return tells("Warning", "UnsupportedSchedule", note);
}

function tooManyMissed(tells: Tells): RecordedEvent {
  const note = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
  return tells("Warning", "TooManyMissedTimes", note);
}
