/** Validation of access reviews: a user, and a resource or a path. */
import { jsonOf, same } from "../definition/field-checks.ts";
import { internalForm } from "../facts/index.ts";
import { type FieldError, type FieldPath, invalid, required } from "../machinery/errors/field-error.ts";
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectAccessReviewSpec,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
} from "../types/authorization-v1.ts";

const NON_RESOURCE = "authorization.v1.NonResourceAttributes";

export function validateSubjectReview({ metadata, spec }: SubjectAccessReview, path: FieldPath): readonly FieldError[] {
  return [...validateSubjectSpec(spec, path.child("spec")), ...metadataFaults(metadata, {}, "must be empty", path)];
}

export function validateSelfReview(
  { metadata, spec }: SelfSubjectAccessReview,
  path: FieldPath,
): readonly FieldError[] {
  return [...attributeFaults(spec, path.child("spec")), ...metadataFaults(metadata, {}, "must be empty", path)];
}

/** A review is never stored: nothing can have a name. The server itself has added the managedFields. */
function metadataFaults(metadata: ObjectMeta, allowed: object, why: string, path: FieldPath): readonly FieldError[] {
  const { managedFields: _, ...own } = metadata;
  return same(own, allowed) ? [] : [invalid(path.child("metadata"), jsonOf(metadata), why)];
}

export function validateLocalReview(
  { metadata, spec }: LocalSubjectAccessReview,
  path: FieldPath,
): readonly FieldError[] {
  const where = path.child("spec");
  const { namespace } = metadata;
  const allowed = namespace === undefined ? {} : { namespace };
  const errors = [
    ...validateSubjectSpec(spec, where),
    ...metadataFaults(metadata, allowed, "must be empty except for namespace", path),
  ];
  const asked = spec.resourceAttributes?.namespace;
  if (spec.resourceAttributes !== undefined && asked !== namespace) {
    errors.push(invalid(where.child("resourceAttributes", "namespace"), asked ?? "", "must match metadata.namespace"));
  }
  if (spec.nonResourceAttributes !== undefined) {
    const shown = internalForm(NON_RESOURCE, spec.nonResourceAttributes);
    errors.push(invalid(where.child("nonResourceAttributes"), shown, "disallowed on this kind of request"));
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
    const shown = internalForm(NON_RESOURCE, nonResourceAttributes);
    return [
      invalid(path.child("nonResourceAttributes"), shown, "cannot be specified in combination with resourceAttributes"),
    ];
  }
  if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    return [
      invalid(
        path.child("resourceAttributes"),
        null,
        "exactly one of nonResourceAttributes or resourceAttributes must be specified",
      ),
    ];
  }
  return [];
}
