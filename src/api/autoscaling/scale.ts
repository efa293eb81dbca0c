/** Scale: what the scale subresource of workloads speaks. It is never stored. */
import { nonNegative } from "../definition/field-checks.ts";
import type { FieldError, FieldPath } from "../machinery/errors/field-error.ts";
import type { Scale } from "../types/autoscaling-v1.ts";

export function validateScale({ spec }: Scale, at: FieldPath): readonly FieldError[] {
  return nonNegative(spec?.replicas, at.child("spec", "replicas"));
}
