/**
 * The selector of a Job. A Job selects its pods by its own uid, so that no two Jobs share pods; `manualSelector` allows
 * another selector.
 */
import { readSelector } from "../core/workload/selector.ts";
import { jsonOf } from "../definition/field-checks.ts";
import { type FieldError, type FieldPath, invalid, required } from "../machinery/errors/field-error.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type { Job } from "../types/batch-v1.ts";

export const jobNameLabel = "batch.kubernetes.io/job-name";
export const controllerUidLabel = "batch.kubernetes.io/controller-uid";
/** The label names from before they had a domain; still set and selected by. */
const oldJobNameLabel = "job-name";
const oldControllerUidLabel = "controller-uid";

export function generateSelector({ metadata, spec }: Draft<Job>): void {
  if (spec === undefined || spec.manualSelector === true) return;
  const { name = "", uid = "" } = metadata;
  spec.template ??= {};
  spec.template.metadata ??= {};
  // Labels that the user has set stay, so that validation refuses them.
  spec.template.metadata.labels = {
    [oldJobNameLabel]: name,
    [jobNameLabel]: name,
    [oldControllerUidLabel]: uid,
    [controllerUidLabel]: uid,
    ...spec.template.metadata.labels,
  };
  spec.selector ??= {};
  spec.selector.matchLabels = { [controllerUidLabel]: uid, ...spec.selector.matchLabels };
}

/** `withDomains`: also the labels with a domain, which very old Jobs lack. */
export function validateGeneratedSelector(
  { metadata, spec }: Job,
  withDomains: boolean,
  at: FieldPath,
): readonly FieldError[] {
  const selector = spec?.selector ?? undefined;
  if (selector === undefined || spec?.manualSelector === true) return [];
  const { name = "", uid = "" } = metadata;
  const wanted: Record<string, string> = { [oldControllerUidLabel]: uid, [oldJobNameLabel]: name };
  if (withDomains) Object.assign(wanted, { [controllerUidLabel]: uid, [jobNameLabel]: name });
  const labels = spec?.template?.metadata?.labels ?? {};
  const labelsAt = at.child("spec", "template", "metadata", "labels");
  const errors: FieldError[] = uid === "" ? [required(at.child("metadata", "uid"))] : [];
  for (const [key, value] of Object.entries(wanted)) {
    if (labels[key] === undefined) errors.push(required(labelsAt.key(key), `must be '${value}'`));
    else if (labels[key] !== value) errors.push(invalid(labelsAt.key(key), labels, `must be '${value}'`));
  }
  if (readSelector(selector)?.matches(wanted) === false) {
    errors.push(invalid(at.child("spec", "selector"), jsonOf(selector), "`selector` not auto-generated"));
  }
  return errors;
}
