/** CronJob: creates a Job at each time of a schedule. */

import { isSpecChange, podNameWarnings, templateWarnings } from "../core/workload/template.ts";
import { selectorColumn, templateColumns } from "../core/workload/template-columns.ts";
import { ageColumn, ageOf } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { nonNegative } from "../definition/field-checks.ts";
import {
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  at as path,
  required,
} from "../machinery/errors/field-error.ts";
import type { CronJob as CronJobObject, CronJobSpec } from "../types/batch-v1.ts";
import { CronScheduleError, parseCronSchedule } from "./cron-schedule.ts";
import { defaultJobTemplate } from "./job-defaults.ts";
import { jobSizeWarnings, validateJobTemplate } from "./job-spec-validation.ts";
import { timeZoneFault } from "./time-zone.ts";

const specType = "io.k8s.api.batch.v1.CronJobSpec";
const statusType = "io.k8s.api.batch.v1.CronJobStatus";

/** A Job is named after its CronJob and the minute, and the name of a Job has at most 63 characters. */
const maxNameLength = 63 - 11;

const oldZoneWarning =
  "CRON_TZ or TZ used in spec.spec.schedule is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details";

export const CronJob = defineKind<CronJobObject>("batch/v1", "CronJob", {
  defaults({ spec }) {
    if (spec === undefined) return;
    spec.concurrencyPolicy ??= "Allow";
    spec.suspend ??= false;
    spec.successfulJobsHistoryLimit ??= 3;
    spec.failedJobsHistoryLimit ??= 1;
    spec.jobTemplate ??= {};
    spec.jobTemplate.spec ??= { template: {} };
    defaultJobTemplate(spec.jobTemplate.spec);
  },
  create: {
    validate: ({ metadata, spec }, at) => [
      ...validateSpec(spec, undefined, at.child("spec")),
      ...validateNameLength(metadata.name ?? "", at.child("metadata", "name")),
    ],
  },
  update: {
    validate: ({ spec }, old, at) => validateSpec(spec, old.spec, at.child("spec")),
  },
  generation: "spec",
  subresources: { status: true },
  warnings(cronJob, old) {
    const { metadata, spec } = cronJob;
    const job = spec.jobTemplate?.spec;
    const inside = isSpecChange(cronJob, old) ? jobSizeWarnings(job, "spec.jobTemplate.spec") : [];
    const template = templateWarnings(cronJob, old, job?.template, path("spec", "jobTemplate", "spec", "template"));
    if (old === undefined) return [...podNameWarnings(metadata.name ?? ""), ...inside, ...template];
    return [...inside, ...template, ...(namesZone(spec.schedule ?? "") ? [oldZoneWarning] : [])];
  },
  columns: [
    { name: "Schedule", type: "string", doc: `${specType}.schedule`, cell: ({ spec }) => spec.schedule ?? "" },
    { name: "Timezone", type: "string", doc: `${specType}.timeZone`, cell: ({ spec }) => spec.timeZone ?? "<none>" },
    { name: "Suspend", type: "boolean", doc: `${specType}.suspend`, cell: ({ spec }) => flagText(spec.suspend) },
    { name: "Active", type: "integer", doc: `${statusType}.active`, cell: ({ status }) => status?.active?.length ?? 0 },
    {
      name: "Last Schedule",
      type: "string",
      doc: `${statusType}.lastScheduleTime`,
      cell: ({ status }, now) =>
        status?.lastScheduleTime === undefined ? "<none>" : ageOf(status.lastScheduleTime, now),
    },
    ageColumn,
    ...templateColumns<CronJobObject>(({ spec }) => spec.jobTemplate?.spec?.template),
    selectorColumn<CronJobObject>(
      "io.k8s.api.batch.v1.JobSpec.selector",
      ({ spec }) => spec.jobTemplate?.spec?.selector,
    ),
  ],
});

function validateSpec(spec: CronJobSpec, old: CronJobSpec | undefined, at: FieldPath): readonly FieldError[] {
  const sameZone = old !== undefined && old.timeZone === spec.timeZone;
  return [
    ...validateSchedule(spec, old, at.child("schedule")),
    ...nonNegative(spec.startingDeadlineSeconds, at.child("startingDeadlineSeconds")),
    ...(sameZone ? [] : validateTimeZone(spec.timeZone, at.child("timeZone"))),
    ...validateConcurrencyPolicy(spec.concurrencyPolicy ?? "", at.child("concurrencyPolicy")),
    ...validateJobTemplate(spec.jobTemplate, old?.jobTemplate, at.child("jobTemplate")),
    ...nonNegative(spec.successfulJobsHistoryLimit, at.child("successfulJobsHistoryLimit")),
    ...nonNegative(spec.failedJobsHistoryLimit, at.child("failedJobsHistoryLimit")),
  ];
}

/** Time zones inside schedules were once accepted: an existing one may stay. */
function validateSchedule(
  { schedule = "", timeZone }: CronJobSpec,
  old: CronJobSpec | undefined,
  at: FieldPath,
): readonly FieldError[] {
  if (schedule === "") return [required(at)];
  const errors: FieldError[] = [];
  try {
    parseCronSchedule(schedule);
  } catch (error) {
    if (!(error instanceof CronScheduleError)) throw error;
    errors.push(invalid(at, schedule, error.message));
  }
  if (!namesZone(schedule)) return errors;
  if (!namesZone(old?.schedule ?? "")) {
    errors.push(invalid(at, schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"));
  } else if (timeZone !== undefined) {
    errors.push(invalid(at, schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule"));
  }
  return errors;
}

function namesZone(schedule: string): boolean {
  return schedule.includes("TZ");
}

function validateTimeZone(zone: string | undefined, at: FieldPath): readonly FieldError[] {
  if (zone === undefined) return [];
  if (zone === "") return [invalid(at, zone, "timeZone must be nil or non-empty string")];
  const errors: FieldError[] = [];
  if (zone.toLowerCase() === "local") {
    errors.push(
      invalid(at, zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"),
    );
  }
  // Go accepts `Local` as the server's own zone.
  const fault = zone === "Local" ? undefined : timeZoneFault(zone);
  return fault === undefined ? errors : [...errors, invalid(at, zone, fault)];
}

function validateConcurrencyPolicy(policy: string, at: FieldPath): readonly FieldError[] {
  const known = ["Allow", "Forbid", "Replace"];
  if (known.includes(policy)) return [];
  return [policy === "" ? required(at) : notSupported(at, policy, known)];
}

function validateNameLength(name: string, at: FieldPath): readonly FieldError[] {
  return name.length > maxNameLength ? [invalid(at, name, `must be no more than ${maxNameLength} characters`)] : [];
}

function flagText(flag: boolean | undefined): string {
  if (flag === undefined) return "<unset>";
  return flag ? "True" : "False";
}
