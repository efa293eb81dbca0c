/** Updates of a Job: few fields are mutable. */

import { same, unchanged, unchangedField } from "../definition/field-checks.ts";
import { internalForm } from "../facts/index.ts";
import { type FieldError, type FieldPath, immutable, invalid } from "../machinery/errors/field-error.ts";
import type { Job, JobSpec } from "../types/batch-v1.ts";
import type { Affinity, Container, PodSpec } from "../types/core-v1.ts";
import { validateJob, validateJobSpec } from "./job-spec-validation.ts";
import { hasCondition } from "./job-status-validation.ts";

const NO_SPEC: Partial<JobSpec> = {};

export function validateJobUpdate(job: Job, old: Job, at: FieldPath): readonly FieldError[] {
  const specAt = at.child("spec");
  const { spec } = job;
  return [
    ...validateJob(job, old, at),
    // Reported twice, as in Kubernetes.
    ...validateJobSpec(spec, old.spec, specAt),
    ...validateCompletions(spec, old.spec, specAt),
    ...unchanged(spec?.selector, old.spec?.selector, specAt.child("selector")),
    ...validateTemplate(job, old, specAt.child("template")),
    ...(["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"] as const).flatMap(
      (name) => unchangedField("batch.v1.JobSpec", name, spec ?? NO_SPEC, old.spec ?? NO_SPEC, specAt),
    ),
  ];
}

/** The completions of an Indexed Job may change together with its parallelism. */
function validateCompletions(
  spec: JobSpec | undefined,
  old: JobSpec | undefined,
  at: FieldPath,
): readonly FieldError[] {
  const completionsAt = at.child("completions");
  const { completions, parallelism, completionMode } = spec ?? {};
  if (completionMode !== "Indexed") return unchanged(completions, old?.completions, completionsAt);
  if (completions === undefined || completions === old?.completions || completions === parallelism) return [];
  return [invalid(completionsAt, completions, `can only be modified in tandem with ${at.child("parallelism")}`)];
}

/** The template of a Job at rest may change its metadata, and where and with which resources its pods run. */
function validateTemplate(job: Job, old: Job, at: FieldPath): readonly FieldError[] {
  const template = job.spec?.template;
  const oldTemplate = old.spec?.template;
  if (!isAtRest(old)) {
    if (same(template, oldTemplate)) return [];
    return [immutable(at, internalForm("core.v1.PodTemplateSpec", template ?? {}))];
  }
  if (same(template?.spec, expectedSpec(template?.spec, oldTemplate?.spec))) return [];
  return [immutable(at.child("spec"), internalForm("core.v1.PodSpec", template?.spec ?? {}))];
}

/** The old pod spec, with the new scheduling directives and resources. */
function expectedSpec(spec: PodSpec | undefined, old: PodSpec | undefined): object | undefined {
  if (spec === undefined || old === undefined) return old;
  const { affinity: oldAffinity, ...others } = taking(old, spec, ["nodeSelector", "tolerations", "schedulingGates"]);
  const affinity = expectedAffinity(spec.affinity, oldAffinity);
  const containers = withResources(old.containers, spec.containers);
  const expected = { ...others, containers, ...(affinity === undefined ? {} : { affinity }) };
  const { initContainers } = old;
  if (initContainers === undefined) return expected;
  return { ...expected, initContainers: withResources(initContainers, spec.initContainers) };
}

/** Suspended, and either never started or without pods from before. */
function isAtRest({ spec, status }: Job): boolean {
  if (spec?.suspend !== true) return false;
  return (
    status?.startTime === undefined || ((status.active ?? 0) === 0 && hasCondition(status.conditions, "Suspended"))
  );
}

function withResources(
  old: readonly Container[] | undefined,
  next: readonly Container[] | undefined,
): readonly object[] {
  return (old ?? []).map((container, i) => taking(container, next?.[i], ["resources"]));
}

/** Only the required node affinity is mutable; it may be added or removed as a whole. */
function expectedAffinity(affinity: Affinity | undefined, old: Affinity | undefined): Partial<Affinity> | undefined {
  const merged = taking(old, affinity, ["nodeAffinity"]);
  return affinity === undefined && same(merged, {}) ? undefined : merged;
}

/** `base`, with these fields from `from`. */
function taking<T extends object>(base: T | undefined, from: T | undefined, names: readonly (keyof T)[]): Partial<T> {
  const taken: Partial<T> = { ...base };
  for (const name of names) {
    const value = from?.[name];
    if (value === undefined) delete taken[name];
    else taken[name] = value;
  }
  return taken;
}
