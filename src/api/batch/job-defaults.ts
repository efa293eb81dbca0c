/**
 * Defaults of Jobs. The template of a CronJob gets only the defaults of its pod template; the rest is defaulted when
 * the Job is created.
 */
import { defaultPodTemplateSpec } from "../core/pod/index.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type { Job, JobSpec } from "../types/batch-v1.ts";

const largestInt32 = 2 ** 31 - 1;

export function defaultJob(job: Draft<Job>): void {
  const { spec } = job;
  if (spec === undefined) return;
  if (spec.parallelism === undefined) {
    spec.parallelism = 1;
    spec.completions ??= 1;
  }
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : largestInt32;
  spec.completionMode ??= "NonIndexed";
  spec.suspend ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? "TerminatingOrFailed" : "Failed";
  spec.manualSelector ??= false;
  defaultJobTemplate(spec);
  takeTemplateLabels(job);
}

export function defaultJobTemplate(spec: Draft<JobSpec>): void {
  for (const rule of spec.podFailurePolicy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) pattern.status ||= "True";
  }
  spec.template ??= {};
  defaultPodTemplateSpec(spec.template);
}

/** A Job without labels takes those of its template. */
export function takeTemplateLabels({ metadata, spec }: Draft<Job>): void {
  const labels = spec?.template.metadata?.labels;
  if (labels !== undefined && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
}
