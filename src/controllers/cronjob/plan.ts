/**
 * What a CronJob does.
 *
 *     a time of its schedule has come     a Job is made for it, unless one that runs forbids it or has to be replaced first
 *     Jobs have finished                  the oldest of them go
 *     in any case                         the status says which Jobs run, and which time was met last
 *
 * 1. A Job is known by its name as that of one time. So the status follows from the Jobs: a controller that was stopped after it had made one finds it again.
 * 2. A finished Job goes only when the status says what it had to say: nothing else would.
 */
import { type batch, equalJson, formatTime, instantOf, type Json, kinds } from "#api";
import type { Plan, Write } from "../runtime/index.ts";
import { eventAbout } from "./events.ts";
import { jobsTooOld, type KnownJobs, knownJobs } from "./known-jobs.ts";
import { newJob } from "./new-job.ts";
import { startOf } from "./start.ts";

type CronJob = batch.CronJob;
type Job = batch.Job;

export interface Facts {
  readonly cronJob: CronJob;
  /** All that it controls. */
  readonly jobs: readonly Job[];
  /** Uids of `status.active` that the server does not have any longer. */
  readonly gone: ReadonlySet<string>;
  /** There is a Job of this name, its own or another's. */
  isTaken(name: string): boolean;
  readonly now: number;
}

export function planCronJob(facts: Facts): Plan {
  const { cronJob, now } = facts;
  const known = knownJobs(facts);
  const start = cronJob.metadata.deletionTimestamp === undefined ? startOf(facts, known) : { events: [] };
  const { replaced = [], create } = start;
  const tooOld = jobsTooOld(facts);
  return {
    events: [...known.events, ...start.events],
    steps: [[...tooOld, ...replaced].map(deletion), create === undefined ? [] : [creation(cronJob, create)]],
    told: (write, outcome) => eventAbout(cronJob, write, outcome),
    finally: (failures) => statusWrites(cronJob, known, failures.length > 0 ? [] : replaced),
    ...(start.next !== undefined && { againAfterMs: Math.max(1, start.next - now) }),
  };
}

function deletion(job: Job): Write {
  return { verb: "delete", resource: kinds.Job, object: job, propagationPolicy: "Background" };
}

function creation(cronJob: CronJob, at: number): Write {
  return { verb: "create", resource: kinds.Job, object: newJob(cronJob, at) };
}

function statusWrites(cronJob: CronJob, known: KnownJobs, replaced: readonly Job[]): readonly Write[] {
  const away = new Set(replaced.map(({ metadata }) => metadata.uid));
  const active = known.active.filter(({ uid }) => !away.has(uid));
  const { lastScheduled, lastSuccessful } = known;
  const status: batch.CronJobStatus = {
    ...(active.length > 0 && { active }),
    ...(lastScheduled !== undefined && { lastScheduleTime: formatTime(instantOf(lastScheduled)) }),
    ...(lastSuccessful !== undefined && { lastSuccessfulTime: lastSuccessful }),
  };
  if (equalJson(status as unknown as Json, (cronJob.status ?? {}) as unknown as Json)) return [];
  const object: CronJob = { ...cronJob, status };
  return [{ verb: "updateStatus", resource: kinds.CronJob, object }];
}
