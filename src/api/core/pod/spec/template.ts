/** Validation of pod templates. */
import { type FieldError, type FieldPath, forbidden } from "../../../machinery/errors/field-error.ts";
import { validateLabels } from "../../../machinery/names/labels.ts";
import { validateAnnotations } from "../../../machinery/object-meta.ts";
import type { PodTemplateSpec } from "../../../types/core-v1.ts";
import { validatePodAnnotations, validateProfilesAgree } from "../fields/annotations.ts";
import type { PodValidationOptions } from "../fields/validation-options.ts";
import { podTemplateOptions } from "./options.ts";
import { validatePodSpec } from "./spec.ts";

/**
 * Faults of the metadata are reported at the template itself. `options` come from podTemplateOptions(template, old
 * template).
 */
export function validatePodTemplateSpec(
  template: PodTemplateSpec | undefined,
  at: FieldPath,
  options: PodValidationOptions = podTemplateOptions(template),
): readonly FieldError[] {
  const { metadata, spec = { containers: [] } } = template ?? {};
  const errors = [
    ...validateLabels(metadata?.labels, at.child("labels")),
    ...validateAnnotations(metadata?.annotations, at.child("annotations")),
    ...validatePodAnnotations(metadata?.annotations, spec, at.child("annotations"), options),
    ...validatePodSpec(spec, undefined, at.child("spec"), options),
    ...validateProfilesAgree(metadata?.annotations, spec, at.child("spec")),
  ];
  if ((spec.ephemeralContainers ?? []).length > 0) {
    errors.push(forbidden(at.child("spec", "ephemeralContainers"), "ephemeral containers not allowed in pod template"));
  }
  return errors;
}
