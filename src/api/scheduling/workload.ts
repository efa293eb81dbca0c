/** Workload: the templates of the PodGroups that a controller creates. */
import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { fits, requireFits, unchangedField } from "../definition/field-checks.ts";
import { duplicate, type FieldError, type FieldPath, required, tooMany } from "../machinery/errors/field-error.ts";
import { checkDns1123Subdomain, checkPathSegmentName } from "../machinery/names/names.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type {
  PodGroupTemplate,
  TypedLocalObjectReference,
  Workload as WorkloadObject,
} from "../types/scheduling-v1alpha2.ts";
import { dropClaims, shortNameFaults, validatePolicy, validateTopology } from "./pod-group-fields.ts";

const mostTemplates = 8;
const type = "scheduling.v1alpha2.WorkloadSpec";

export const Workload = defineKind<WorkloadObject>("scheduling.k8s.io/v1alpha2", "Workload", {
  create: {
    prepare: (draft) => dropFields(draft, undefined),
    validate: ({ spec }, at) => [
      ...referenceFaults(spec.controllerRef, at.child("spec", "controllerRef")),
      ...templateFaults(spec.podGroupTemplates, at.child("spec", "podGroupTemplates")),
    ],
  },
  update: {
    prepare: dropFields,
    validate: (next, old, path) => {
      const at = path.child("spec");
      return [
        // It may be set later, but not changed.
        ...(old.spec.controllerRef === undefined
          ? referenceFaults(next.spec.controllerRef, at.child("controllerRef"))
          : unchangedField(type, "controllerRef", next.spec, old.spec, at)),
        ...unchangedField(type, "podGroupTemplates", next.spec, old.spec, at),
      ];
    },
  },
  columns: [ageColumn],
});

function dropFields({ spec }: Draft<WorkloadObject>, old: WorkloadObject | undefined): void {
  for (const template of spec.podGroupTemplates ?? []) {
    dropClaims(
      template,
      old?.spec.podGroupTemplates?.find(({ name }) => name === template.name),
    );
  }
}

function referenceFaults(ref: TypedLocalObjectReference | undefined, at: FieldPath): readonly FieldError[] {
  if (ref === undefined) return [];
  return [
    ...(ref.apiGroup ? fits(checkDns1123Subdomain, ref.apiGroup, at.child("apiGroup")) : []),
    ...requireFits(checkPathSegmentName, ref.kind, at.child("kind")),
    ...requireFits(checkPathSegmentName, ref.name, at.child("name")),
  ];
}

/** Null, where the client sent none. */
function templateFaults(templates: readonly PodGroupTemplate[] | null, at: FieldPath): readonly FieldError[] {
  if (!templates || templates.length === 0) return [required(at, "must have at least one item")];
  if (templates.length > mostTemplates) return [tooMany(at, templates.length, mostTemplates)];
  const seen = new Set<string>();
  return templates.flatMap(({ name, schedulingPolicy, schedulingConstraints }, i) => {
    const repeated = seen.has(name) ? [duplicate(at.index(i), name)] : [];
    seen.add(name);
    return [
      ...shortNameFaults(name, at.index(i).child("name")),
      ...repeated,
      ...validatePolicy(schedulingPolicy, at.index(i).child("schedulingPolicy")),
      ...validateTopology(schedulingConstraints, at.index(i).child("schedulingConstraints")),
    ];
  });
}
