/** Job: runs pods until enough of them have succeeded. */

import { isSpecChange, podNameWarnings, templateWarnings } from "../core/workload/template.ts";
import { selectorColumn, templateColumns } from "../core/workload/template-columns.ts";
import { ageColumn, ageOf, humanDuration } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { parseTime, toMs } from "../machinery/scalars/time.ts";
import type { Job as JobObject } from "../types/batch-v1.ts";
import { defaultJob, takeTemplateLabels } from "./job-defaults.ts";
import { generateSelector } from "./job-selector.ts";
import { jobSizeWarnings, validateJob } from "./job-spec-validation.ts";
import { hasCondition, validateJobStatusUpdate } from "./job-status-validation.ts";
import { validateJobUpdate } from "./job-update-validation.ts";

export const Job = defineKind<JobObject>("batch/v1", "Job", {
  defaults: defaultJob,
  create: {
    prepare(draft) {
      generateSelector(draft);
      takeTemplateLabels(draft);
    },
    validate: (job, at) => validateJob(job, undefined, at),
  },
  update: { validate: validateJobUpdate },
  // From before garbage collection: pods are orphaned, unless the client asks otherwise.
  delete: {
    defaultPropagation: "Orphan",
    defaultPropagationWarning:
      "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
  },
  generation: "spec",
  subresources: { status: { validate: validateJobStatusUpdate } },
  selectableFields: {
    names: ["status.successful"],
    valueOf: ({ status }) => String(status?.succeeded ?? 0),
  },
  warnings(job, old) {
    const names = old === undefined ? podNameWarnings(job.metadata.name ?? "") : [];
    const size = isSpecChange(job, old) ? jobSizeWarnings(job.spec, "spec") : [];
    return [...names, ...size, ...templateWarnings(job, old, job.spec?.template)];
  },
  columns: [
    { name: "Status", type: "string", description: "Status of the job.", cell: statusText },
    { name: "Completions", type: "string", doc: "io.k8s.api.batch.v1.JobStatus.succeeded", cell: completionsText },
    {
      name: "Duration",
      type: "string",
      doc: "columns.job.Duration",
      description: "How long it took, or has taken so far.",
      cell: durationText,
    },
    ageColumn,
    ...templateColumns<JobObject>(({ spec }) => spec?.template),
    selectorColumn<JobObject>("io.k8s.api.batch.v1.JobSpec.selector", ({ spec }) => spec?.selector),
  ],
});

function statusText({ metadata, status }: JobObject): string {
  const is = (type: string) => hasCondition(status?.conditions, type);
  if (is("Complete")) return "Complete";
  if (is("Failed")) return "Failed";
  if (metadata.deletionTimestamp !== undefined) return "Terminating";
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find(is) ?? "Running";
}

function completionsText({ spec, status }: JobObject): string {
  const succeeded = status?.succeeded ?? 0;
  if (spec?.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationText({ status }: JobObject, now: number): string {
  const { startTime, completionTime } = status ?? {};
  if (startTime === undefined) return "";
  if (completionTime === undefined) return ageOf(startTime, now);
  return humanDuration(toMs(parseTime(completionTime)) - toMs(parseTime(startTime)));
}
