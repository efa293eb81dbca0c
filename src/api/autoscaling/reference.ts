/** References to other objects, by kind and name. */
import { type FieldError, type FieldPath, invalid, required } from "../machinery/errors/field-error.ts";
import { checkPathSegmentName } from "../machinery/names/names.ts";
import type { CrossVersionObjectReference } from "../types/autoscaling-v2.ts";

export type Reference = CrossVersionObjectReference | undefined;

export function validateReference(reference: Reference, at: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ["kind", "name"] as const) {
    const value = reference?.[name] ?? "";
    if (value === "") errors.push(required(at.child(name)));
    else for (const why of checkPathSegmentName(value)) errors.push(invalid(at.child(name), value, why));
  }
  const apiVersion = reference?.apiVersion ?? "";
  if (apiVersion.split("/").length > 2) {
    errors.push(invalid(at.child("apiVersion"), apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  }
  return errors;
}
