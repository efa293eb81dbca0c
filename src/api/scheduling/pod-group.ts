/** PodGroup: Pods that are scheduled together. */
import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { requireFits, unchangedField } from "../definition/field-checks.ts";
import { type FieldError, type FieldPath, required } from "../machinery/errors/field-error.ts";
import { checkDns1123Subdomain } from "../machinery/names/names.ts";
import type { PodGroup as PodGroupObject, PodGroupSpec } from "../types/scheduling-v1alpha2.ts";
import { dropClaims, shortNameFaults, validatePolicy, validateTopology } from "./pod-group-fields.ts";

const type = "scheduling.v1alpha2.PodGroupSpec";
/** All of the spec. */
const FIXED = [
  "podGroupTemplateRef",
  "schedulingPolicy",
  "schedulingConstraints",
  "resourceClaims",
  "disruptionMode",
  "priorityClassName",
  "priority",
] as const;

export const PodGroup = defineKind<PodGroupObject>("scheduling.k8s.io/v1alpha2", "PodGroup", {
  create: { prepare: ({ spec }) => dropClaims(spec, undefined) },
  update: {
    prepare: ({ spec }, old) => dropClaims(spec, old.spec),
    validate: (next, old, at) =>
      FIXED.flatMap((name) => unchangedField(type, name, next.spec, old.spec, at.child("spec"))),
  },
  validate: ({ spec }, at) => [
    ...templateRefFaults(spec, at.child("spec", "podGroupTemplateRef")),
    ...validatePolicy(spec.schedulingPolicy, at.child("spec", "schedulingPolicy")),
    ...validateTopology(spec.schedulingConstraints, at.child("spec", "schedulingConstraints")),
  ],
  subresources: {
    status: {
      keeps: "nothing",
      prepare: ({ status }, old) => {
        if (status !== undefined && old.status?.resourceClaimStatuses === undefined)
          delete status.resourceClaimStatuses;
      },
    },
  },
  columns: [ageColumn],
});

/** The template is one of a Workload. */
function templateRefFaults({ podGroupTemplateRef: ref }: PodGroupSpec, at: FieldPath): readonly FieldError[] {
  if (!ref) return [];
  if (!ref.workload) return [required(at, "must specify one of: `workload`")];
  const { workloadName, podGroupTemplateName } = ref.workload;
  const where = at.child("workload");
  return [
    ...requireFits(checkDns1123Subdomain, workloadName, where.child("workloadName")),
    ...shortNameFaults(podGroupTemplateName, where.child("podGroupTemplateName")),
  ];
}
