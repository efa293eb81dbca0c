/** ReplicaSet: a number of identical pods. */

import { defaultPodTemplateSpec } from "../core/pod/index.ts";
import { validateReplicaCounts } from "../core/workload/replica-counts.ts";
import { checkSelector } from "../core/workload/selector.ts";
import { podNameWarnings, templateWarnings, validateReplicatedTemplate } from "../core/workload/template.ts";
import { selectorColumn, templateColumns } from "../core/workload/template-columns.ts";
import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { nonNegative, unchanged } from "../definition/field-checks.ts";
import type { FieldError, FieldPath } from "../machinery/errors/field-error.ts";
import type { ReplicaSet as ReplicaSetObject, ReplicaSetSpec } from "../types/apps-v1.ts";

const specType = "io.k8s.api.apps.v1.ReplicaSetSpec";
const statusType = "io.k8s.api.apps.v1.ReplicaSetStatus";

export const ReplicaSet = defineKind<ReplicaSetObject>("apps/v1", "ReplicaSet", {
  defaults(draft) {
    if (draft.spec === undefined) return;
    draft.spec.replicas ??= 1;
    draft.spec.template ??= {};
    defaultPodTemplateSpec(draft.spec.template);
  },
  create: {
    validate: (set, at) => validateSpec(set.spec, undefined, at.child("spec")),
  },
  update: {
    validate(set, old, at) {
      const errors = validateSpec(set.spec, old.spec, at.child("spec"));
      return [...errors, ...unchanged(set.spec?.selector, old.spec?.selector, at.child("spec", "selector"))];
    },
  },
  generation: "spec",
  subresources: {
    status: { validate: (set, _old, at) => validateReplicaCounts(set.status, at.child("status")) },
    scale: { replicas: "spec.replicas", statusReplicas: "status.replicas", selector: "spec.selector" },
  },
  warnings(object, old) {
    const names = old === undefined ? podNameWarnings(object.metadata.name ?? "") : [];
    return [...names, ...templateWarnings(object, old, object.spec?.template)];
  },
  columns: [
    { name: "Desired", type: "integer", doc: `${specType}.replicas`, cell: (set) => set.spec?.replicas ?? 0 },
    { name: "Current", type: "integer", doc: `${statusType}.replicas`, cell: (set) => set.status?.replicas ?? 0 },
    {
      name: "Ready",
      type: "integer",
      doc: `${statusType}.readyReplicas`,
      cell: (set) => set.status?.readyReplicas ?? 0,
    },
    ageColumn,
    ...templateColumns<ReplicaSetObject>((set) => set.spec?.template),
    selectorColumn<ReplicaSetObject>(`${specType}.selector`, (set) => set.spec?.selector),
  ],
});

function validateSpec(
  spec: ReplicaSetSpec | undefined,
  old: ReplicaSetSpec | undefined,
  at: FieldPath,
): readonly FieldError[] {
  const { errors, matcher } = checkSelector(spec?.selector, at.child("selector"), {
    empty: "empty selector is invalid for deployment",
    unreadable: "invalid label selector",
  });
  return [
    ...nonNegative(spec?.replicas, at.child("replicas")),
    ...nonNegative(spec?.minReadySeconds, at.child("minReadySeconds")),
    ...errors,
    ...(matcher === undefined
      ? []
      : validateReplicatedTemplate(spec?.template, old?.template, matcher, at.child("template"))),
  ];
}
