/** PodDisruptionBudget: how many of the selected pods may be evicted at once. */

import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { allNonNegative, atMost100Percent, jsonOf, nonNegativeIntOrPercent } from "../definition/field-checks.ts";
import { type FieldError, type FieldPath, invalid, notSupported } from "../machinery/errors/field-error.ts";
import { validateLabelSelector } from "../machinery/names/labels.ts";
import type { PodDisruptionBudget as PodDisruptionBudgetObject, PodDisruptionBudgetSpec } from "../types/policy-v1.ts";
import { validateConditions } from "./conditions.ts";

const specType = "io.k8s.api.policy.v1.PodDisruptionBudgetSpec";

export const PodDisruptionBudget = defineKind<PodDisruptionBudgetObject>("policy/v1", "PodDisruptionBudget", {
  validate: ({ spec }, at) => validateSpec(spec ?? {}, at.child("spec")),
  update: { allowUnconditional: false },
  generation: "spec",
  subresources: {
    status: {
      validate: ({ status = {} }, _old, at) => [
        ...validateConditions(status.conditions ?? [], at.child("status", "conditions")),
        ...allNonNegative(
          status,
          ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"],
          at.child("status"),
        ),
      ],
    },
  },
  columns: [
    {
      name: "Min Available",
      type: "string",
      doc: `${specType}.minAvailable`,
      cell: ({ spec }) => String(spec?.minAvailable ?? "N/A"),
    },
    {
      name: "Max Unavailable",
      type: "string",
      doc: `${specType}.maxUnavailable`,
      cell: ({ spec }) => String(spec?.maxUnavailable ?? "N/A"),
    },
    {
      name: "Allowed Disruptions",
      type: "integer",
      doc: "columns.podDisruptionBudget.Allowed Disruptions",
      description: "How many Pods may be evicted now.",
      cell: ({ status }) => status?.disruptionsAllowed ?? 0,
    },
    ageColumn,
  ],
});

function validateSpec(spec: PodDisruptionBudgetSpec, at: FieldPath): readonly FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec;
  const errors: FieldError[] = [];
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    errors.push(invalid(at, shown(spec), "minAvailable and maxUnavailable cannot be both set"));
  }
  for (const name of ["minAvailable", "maxUnavailable"] as const) {
    const value = spec[name];
    if (value !== undefined)
      errors.push(...nonNegativeIntOrPercent(value, at.child(name)), ...atMost100Percent(value, at.child(name)));
  }
  errors.push(...validateLabelSelector(selector, at.child("selector")));
  const known = ["AlwaysAllow", "IfHealthyBudget"];
  if (policy !== undefined && !known.includes(policy))
    errors.push(notSupported(at.child("unhealthyPodEvictionPolicy"), policy, known));
  return errors;
}

/** As Kubernetes prints it: with the names of the Go fields. */
function shown({ minAvailable, selector, maxUnavailable, unhealthyPodEvictionPolicy }: PodDisruptionBudgetSpec) {
  return {
    MinAvailable: jsonOf(minAvailable),
    Selector: jsonOf(selector),
    MaxUnavailable: jsonOf(maxUnavailable),
    UnhealthyPodEvictionPolicy: jsonOf(unhealthyPodEvictionPolicy),
  };
}
