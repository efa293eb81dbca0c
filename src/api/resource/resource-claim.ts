import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { unchangedField } from "../definition/field-checks.ts";
import { validateTemplateMeta } from "../definition/template-meta.ts";
import type { FieldError, FieldPath } from "../machinery/errors/field-error.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type {
  ResourceClaim as ResourceClaimObject,
  ResourceClaimSpec,
  ResourceClaimTemplate as ResourceClaimTemplateObject,
  ResourceClaimTemplateSpec,
} from "../types/resource-v1.ts";
import { validateClaimStatus } from "./claim-status-validation.ts";
import { validateClaimSpec } from "./claim-validation.ts";

export const ResourceClaim = defineKind<ResourceClaimObject>("resource.k8s.io/v1", "ResourceClaim", {
  defaults: ({ spec }) => defaultClaimSpec(spec),
  create: { validate: ({ spec }, path) => validateClaimSpec(spec, false, path.child("spec")) },
  // The spec never changes: what was valid stays valid.
  update: { validate: (next, old, path) => unchangedField("resource.v1.ResourceClaim", "spec", next, old, path) },
  subresources: { status: { keeps: "nothing", validate: validateClaimStatus } },
  columns: [
    {
      name: "State",
      type: "string",
      description: "Pending, allocated or reserved, in a word.",
      cell: stateOf,
    },
    ageColumn,
  ],
});

export const ResourceClaimTemplate = defineKind<ResourceClaimTemplateObject>(
  "resource.k8s.io/v1",
  "ResourceClaimTemplate",
  {
    defaults: ({ spec }) => defaultClaimSpec(spec.spec),
    create: { validate: ({ spec }, path) => validateTemplateSpec(spec, false, path.child("spec")) },
    update: {
      validate: (next, old, path) => [
        ...unchangedField("resource.v1.ResourceClaimTemplate", "spec", next, old, path),
        ...validateTemplateSpec(next.spec, true, path.child("spec")),
      ],
    },
    columns: [ageColumn],
  },
);

function validateTemplateSpec(
  { metadata, spec }: ResourceClaimTemplateSpec,
  stored: boolean,
  at: FieldPath,
): readonly FieldError[] {
  return [
    ...validateTemplateMeta(metadata, at.child("metadata")),
    ...validateClaimSpec(spec, stored, at.child("spec")),
  ];
}

/** One device, unless the request sets a count. */
function defaultClaimSpec({ devices }: Draft<ResourceClaimSpec>): void {
  for (const request of devices?.requests ?? []) {
    for (const alternative of [
      ...(request.exactly === undefined ? [] : [request.exactly]),
      ...(request.firstAvailable ?? []),
    ]) {
      alternative.allocationMode ||= "ExactCount";
      if (alternative.allocationMode === "ExactCount") alternative.count ||= 1;
    }
  }
}

function stateOf({ metadata, status }: ResourceClaimObject): string {
  const deleted = metadata.deletionTimestamp !== undefined;
  const words = deleted ? ["deleted"] : [];
  if (status?.allocation === undefined) return deleted ? "deleted" : "pending";
  words.push("allocated");
  if ((status.reservedFor ?? []).length > 0) words.push("reserved");
  return words.join(",");
}
