/** Validation of access reviews: a user, and a resource or a path. */
import { type FieldError, type FieldPath, forbidden, invalid, required } from "../machinery/errors/field-error.ts";
import type {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectAccessReviewSpec,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
} from "../types/authorization-v1.ts";

export function validateSubjectReview({ spec }: SubjectAccessReview, path: FieldPath): readonly FieldError[] {
  return validateSubjectSpec(spec, path.child("spec"));
}

export function validateSelfReview({ spec }: SelfSubjectAccessReview, path: FieldPath): readonly FieldError[] {
  return attributeFaults(spec, path.child("spec"));
}

export function validateLocalReview(
  { metadata, spec }: LocalSubjectAccessReview,
  path: FieldPath,
): readonly FieldError[] {
  const where = path.child("spec");
  const errors = [...validateSubjectSpec(spec, where)];
  const asked = spec.resourceAttributes?.namespace;
  if (spec.resourceAttributes !== undefined && asked !== metadata.namespace) {
    errors.push(invalid(where.child("resourceAttributes", "namespace"), asked ?? "", "must match metadata.namespace"));
  }
  if (spec.nonResourceAttributes !== undefined) {
    errors.push(forbidden(where.child("nonResourceAttributes"), "disallowed on this kind of request"));
  }
  return errors;
}

export function validateRulesReview({ spec }: SelfSubjectRulesReview, path: FieldPath): readonly FieldError[] {
  return spec.namespace ? [] : [required(path.child("spec", "namespace"))];
}

function validateSubjectSpec(spec: SubjectAccessReviewSpec, path: FieldPath): readonly FieldError[] {
  const errors = [...attributeFaults(spec, path)];
  if (!spec.user && (spec.groups ?? []).length === 0) {
    errors.push(invalid(path.child("user"), spec.user ?? "", "at least one of user or group must be specified"));
  }
  return errors;
}

function attributeFaults(
  { resourceAttributes, nonResourceAttributes }: SelfSubjectAccessReviewSpec,
  path: FieldPath,
): readonly FieldError[] {
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    return [
      invalid(path.child("nonResourceAttributes"), "", "cannot be specified in combination with resourceAttributes"),
    ];
  }
  if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    return [
      invalid(
        path.child("resourceAttributes"),
        "",
        "exactly one of nonResourceAttributes or resourceAttributes must be specified",
      ),
    ];
  }
  return [];
}
