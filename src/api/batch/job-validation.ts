/** What a Job as a whole must fit. */
import { type FieldError, type FieldPath, invalid } from "../machinery/errors/field-error.ts";
import { checkDns1123Label } from "../machinery/names/names.ts";
import type { Job } from "../types/batch-v1.ts";
import { controllerUidLabel, jobNameLabel, validateGeneratedSelector } from "./job-selector.ts";
import { validateJobSpec } from "./job-spec-validation.ts";

export function validateJob(job: Job, old: Job | undefined, at: FieldPath): readonly FieldError[] {
  const oldLabels = old?.spec?.template?.metadata?.labels ?? {};
  const withDomains =
    old === undefined || (oldLabels[jobNameLabel] !== undefined && oldLabels[controllerUidLabel] !== undefined);
  return [
    ...validateGeneratedSelector(job, withDomains, at),
    ...validateJobSpec(job.spec, old?.spec, at.child("spec")),
    ...validateHostNames(job, at.child("metadata", "name")),
  ];
}

/** Pods of an Indexed Job are named after it and their index: the longest of these names must still be one. */
function validateHostNames({ metadata, spec }: Job, at: FieldPath): readonly FieldError[] {
  const { completionMode, completions = 0 } = spec ?? {};
  if (completionMode !== "Indexed" || completions <= 0) return [];
  const name = metadata.name ?? "";
  const longest = `${name}-${completions - 1}`;
  if (checkDns1123Label(longest).length === 0) return [];
  return [invalid(at, name, `will not able to create pod with invalid DNS label: ${longest}`)];
}
