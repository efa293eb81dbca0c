/** Lease: who leads, and until when. */

import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { nonNegative } from "../definition/field-checks.ts";
import { type FieldError, type FieldPath, invalid } from "../machinery/errors/field-error.ts";
import type { Lease as LeaseObject, LeaseSpec } from "../types/coordination-v1.ts";

export const Lease = defineKind<LeaseObject>("coordination.k8s.io/v1", "Lease", {
  update: { allowCreate: true, allowUnconditional: false },
  validate: ({ spec }, at) => validateSpec(spec ?? {}, at.child("spec")),
  columns: [
    {
      name: "Holder",
      type: "string",
      doc: "io.k8s.api.coordination.v1.LeaseSpec.holderIdentity",
      cell: ({ spec }) => spec?.holderIdentity ?? "",
    },
    ageColumn,
  ],
});

function validateSpec(
  { leaseDurationSeconds: duration, leaseTransitions }: LeaseSpec,
  at: FieldPath,
): readonly FieldError[] {
  const durationAt = at.child("leaseDurationSeconds");
  return [
    ...(duration !== undefined && duration <= 0 ? [invalid(durationAt, duration, "must be greater than 0")] : []),
    ...nonNegative(leaseTransitions, at.child("leaseTransitions")),
  ];
}
