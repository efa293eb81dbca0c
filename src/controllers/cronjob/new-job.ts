/** The Job for one scheduled time. Its name contains the time, so it is created once. */
import { type batch, formatTime, instantOf, parseTime, TimeError, toMs } from "#api";
import { ownedBy } from "../runtime/index.ts";
import { timeZone } from "./time-zone.ts";

type CronJob = batch.CronJob;
type Job = batch.Job;

export const CRON_JOB_KIND = { apiVersion: "batch/v1", kind: "CronJob" } as const;

const SCHEDULED_TIME = "batch.kubernetes.io/cronjob-scheduled-timestamp";

export function newJob(cronJob: CronJob, at: number): Job {
  const { metadata, spec } = cronJob.spec.jobTemplate;
  const { labels, annotations } = metadata ?? {};
  const { namespace } = cronJob.metadata;
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name: jobName(cronJob, at),
      ...(namespace !== undefined && { namespace }),
      ...(labels !== undefined && { labels }),
      annotations: { ...annotations, [SCHEDULED_TIME]: localTime(at, cronJob.spec.timeZone) },
      ownerReferences: [ownedBy(cronJob, CRON_JOB_KIND)],
    },
    ...(spec !== undefined && { spec }),
  };
}

export function jobName({ metadata }: CronJob, at: number): string {
  return `${metadata.name}-${Math.floor(at / 60_000)}`;
}

/** The scheduled time of a Job; undefined if it was created in another way. */
export function scheduledTimeOf(cronJob: CronJob, { metadata }: Job): number | undefined {
  const at = readTime(metadata.annotations?.[SCHEDULED_TIME] ?? "");
  return at !== undefined && metadata.name === jobName(cronJob, at) ? at : undefined;
}

function readTime(text: string): number | undefined {
  try {
    return toMs(parseTime(text));
  } catch (error) {
    if (error instanceof TimeError) return undefined;
    throw error;
  }
}

/** In the CronJob's time zone. */
function localTime(at: number, zone: string | undefined): string {
  const offsetMinutes = (timeZone(zone)?.(at) ?? 0) / 60_000;
  const wall = formatTime(instantOf(at + offsetMinutes * 60_000));
  if (offsetMinutes === 0) return wall;
  const ahead = Math.abs(offsetMinutes);
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  return `${wall.slice(0, -1)}${offsetMinutes < 0 ? "-" : "+"}${two(ahead / 60)}:${two(ahead % 60)}`;
}
