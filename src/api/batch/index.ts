/** The public surface of batch. */
import type { Kind } from "../machinery/kind.ts";
import { CronJob } from "./cron-job.ts";
import { Job } from "./job.ts";

export {
  type CronDistance,
  type CronField,
  type CronFields,
  type CronSchedule,
  CronScheduleError,
  parseCronSchedule,
} from "./cron-schedule.ts";
export { countIndexes, IndexesError, type Interval, parseIndexes } from "./indexes.ts";
export { controllerUidLabel, jobNameLabel } from "./job-selector.ts";
export { hasCondition } from "./job-status-validation.ts";
export { isTimeZone } from "./time-zone.ts";
export { CronJob, Job };

export const batchKinds: readonly Kind[] = [CronJob, Job];
