/** Validation of the spec of a Job, or of the template of a CronJob. */
import { podTemplateOptions, validatePodTemplateSpec } from "../core/pod/index.ts";
import { checkTemplateMatches, readSelector } from "../core/workload/selector.ts";
import { domainPrefixedPathFaults, jsonOf, nonNegative } from "../definition/field-checks.ts";
import {
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
  tooLong,
} from "../machinery/errors/field-error.ts";
import { validateLabelSelector } from "../machinery/names/labels.ts";
import { checkDns1123Label } from "../machinery/names/names.ts";
import type { Job, JobSpec, JobTemplateSpec } from "../types/batch-v1.ts";
import { controllerUidLabel, jobNameLabel, validateGeneratedSelector } from "./job-selector.ts";
import { validatePodFailurePolicy } from "./pod-failure-policy.ts";
import { validateSuccessPolicy } from "./success-policy.ts";

const maxManagedByLength = 63;
const maxIndexedParallelism = 100_000;
const maxFailedIndexes = 100_000;
/** From this number of completions on, Jobs with backoffLimitPerIndex have smaller limits. */
const manyCompletions = 100_000;
const maxForManyCompletions = 10_000;

/** The spec of a Job, with its selector. */
export function validateJobSpec(
  spec: JobSpec | undefined,
  old: JobSpec | undefined,
  at: FieldPath,
): readonly FieldError[] {
  const selector = spec?.selector ?? undefined;
  const selectorAt = at.child("selector");
  const matcher = readSelector(selector);
  return [
    ...validateSharedSpec(spec, old, at),
    ...(selector === undefined ? [required(selectorAt)] : validateLabelSelector(selector, selectorAt)),
    ...(matcher === undefined ? [] : checkTemplateMatches(spec?.template, matcher, at.child("template"))),
  ];
}

/** The template of a CronJob: its Jobs get their selectors when they are created. */
export function validateJobTemplate(
  template: JobTemplateSpec | undefined,
  old: JobTemplateSpec | undefined,
  at: FieldPath,
): readonly FieldError[] {
  const spec = template?.spec;
  const specAt = at.child("spec");
  const errors = [...validateSharedSpec(spec, old?.spec, specAt)];
  if (spec?.selector !== undefined)
    errors.push(invalid(specAt.child("selector"), jsonOf(spec.selector), "`selector` will be auto-generated"));
  if (spec?.manualSelector === true) errors.push(notSupported(specAt.child("manualSelector"), true, ["nil", "false"]));
  return errors;
}

function validateSharedSpec(spec: JobSpec | undefined, old: JobSpec | undefined, at: FieldPath): readonly FieldError[] {
  const template = spec?.template;
  return [
    ...(spec === undefined ? [] : validateOwnFields(spec, at)),
    ...validatePodTemplateSpec(template, at.child("template"), podTemplateOptions(template, old?.template)),
    ...validateRestartPolicy(spec, at.child("template", "spec", "restartPolicy")),
  ];
}

function validateOwnFields(spec: JobSpec, at: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const name of [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
  ] as const) {
    errors.push(...nonNegative(spec[name], at.child(name)));
  }
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    errors.push(required(at.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified"));
  }
  errors.push(...validateManagedBy(spec.managedBy, at.child("managedBy")));
  errors.push(...validateCompletionMode(spec, at));
  if (spec.podFailurePolicy !== undefined)
    errors.push(...validatePodFailurePolicy(spec, spec.podFailurePolicy, at.child("podFailurePolicy")));
  if (spec.successPolicy !== undefined)
    errors.push(...validateSuccessPolicy(spec, spec.successPolicy, at.child("successPolicy")));
  errors.push(...validatePodReplacementPolicy(spec, at.child("podReplacementPolicy")));
  return errors;
}

function validateManagedBy(manager: string | undefined, at: FieldPath): readonly FieldError[] {
  if (manager === undefined) return [];
  const errors = domainPrefixedPathFaults(manager, at);
  return manager.length > maxManagedByLength ? [...errors, tooLong(at, maxManagedByLength)] : errors;
}

function validateCompletionMode(spec: JobSpec, at: FieldPath): readonly FieldError[] {
  const { completionMode } = spec;
  if (completionMode === "Indexed") return validateIndexed(spec, at);
  const errors: FieldError[] = [];
  if (completionMode !== undefined && completionMode !== "NonIndexed") {
    return [notSupported(at.child("completionMode"), completionMode, ["NonIndexed", "Indexed"])];
  }
  for (const name of ["backoffLimitPerIndex", "maxFailedIndexes"] as const) {
    const value = spec[name];
    if (value !== undefined) errors.push(invalid(at.child(name), value, "requires indexed completion mode"));
  }
  return errors;
}

function validateIndexed(
  { completions, parallelism = 0, maxFailedIndexes: failed, backoffLimitPerIndex }: JobSpec,
  at: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const parallelismAt = at.child("parallelism");
  const failedAt = at.child("maxFailedIndexes");
  if (completions === undefined) errors.push(required(at.child("completions"), "when completion mode is Indexed"));
  if (parallelism > maxIndexedParallelism) {
    const why = `must be less than or equal to ${maxIndexedParallelism} when completion mode is Indexed`;
    errors.push(invalid(parallelismAt, parallelism, why));
  }
  if (completions !== undefined && failed !== undefined && failed > completions) {
    errors.push(invalid(failedAt, failed, "must be less than or equal to completions"));
  }
  if (failed !== undefined && failed > maxFailedIndexes) {
    errors.push(invalid(failedAt, failed, `must be less than or equal to ${maxFailedIndexes}`));
  }
  if (completions === undefined || completions <= manyCompletions || backoffLimitPerIndex === undefined) return errors;
  const why = `must be less than or equal to ${maxForManyCompletions} when completions are above ${manyCompletions} and used with backoff limit per index`;
  if (failed === undefined)
    errors.push(required(failedAt, `must be specified when completions is above ${manyCompletions}`));
  if (parallelism > maxForManyCompletions) errors.push(invalid(parallelismAt, parallelism, why));
  if (failed !== undefined && failed > maxForManyCompletions) errors.push(invalid(failedAt, failed, why));
  return errors;
}

function validatePodReplacementPolicy(
  { podReplacementPolicy: policy, podFailurePolicy }: JobSpec,
  at: FieldPath,
): readonly FieldError[] {
  const known = podFailurePolicy === undefined ? ["Failed", "TerminatingOrFailed"] : ["Failed"];
  return policy === undefined || known.includes(policy) ? [] : [notSupported(at, policy, known)];
}

/** `Always` is the default of templates: for a Job it means that no policy was set. */
function validateRestartPolicy(spec: JobSpec | undefined, at: FieldPath): readonly FieldError[] {
  const policy = spec?.template?.spec?.restartPolicy ?? "";
  if (policy === "" || policy === "Always") return [required(at, 'valid values: "OnFailure", "Never"')];
  if (policy !== "OnFailure" && policy !== "Never") return [notSupported(at, policy, ["OnFailure", "Never"])];
  if (spec?.podFailurePolicy === undefined || policy === "Never") return [];
  return [invalid(at, policy, 'only "Never" is supported when podFailurePolicy is specified')];
}

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

/** Pods of an Indexed Job are named after it and their index: the longest of these names must be valid. */
function validateHostNames({ metadata, spec }: Job, at: FieldPath): readonly FieldError[] {
  const { completionMode, completions = 0 } = spec ?? {};
  if (completionMode !== "Indexed" || completions <= 0) return [];
  const name = metadata.name ?? "";
  const longest = `${name}-${completions - 1}`;
  if (checkDns1123Label(longest).length === 0) return [];
  return [invalid(at, name, `will not able to create pod with invalid DNS label: ${longest}`)];
}

const muchParallelism = 10_000;

/** `at` is the path of the spec. */
export function jobSizeWarnings(spec: JobSpec | undefined, at: string): readonly string[] {
  const { completionMode, completions = 0, parallelism = 0 } = spec ?? {};
  if (completionMode !== "Indexed" || completions <= manyCompletions || parallelism <= muchParallelism) return [];
  const why =
    "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail";
  return [`${at}: ${why}`];
}
