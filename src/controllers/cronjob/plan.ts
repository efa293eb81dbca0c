/**
 * What a CronJob does.
 *
 *     a scheduled time has come           create a Job, unless a running one forbids it or has to be replaced first
 *     finished Jobs                       delete the oldest
 *     in any case                         update the status: active Jobs and last schedule time
 *
 * 1. A Job's name identifies its scheduled time. So the status follows from the Jobs: after a restart the controller
 *    finds the Jobs that it created.
 * 2. A finished Job is deleted only after the status has recorded it.
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
  /** All Jobs that it controls. */
  readonly jobs: readonly Job[];
  /** Uids of `status.active` that the API server no longer has. */
  readonly gone: ReadonlySet<string>;
  /** Whether a Job of this name exists, its own or another's. */
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
    eventFor: (write, outcome) => eventAbout(cronJob, write, outcome),
    finally: (failures) => statusWrites(cronJob, known, failures.length > 0 ? [] : replaced),
    againAfterMs: start.next === undefined ? undefined : Math.max(1, start.next - now),
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
