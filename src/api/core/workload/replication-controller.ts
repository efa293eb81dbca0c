/** ReplicationController: the predecessor of ReplicaSet, with a plain map as its selector. */

import { ageColumn, labelsText } from "../../definition/columns.ts";
import { defineKind } from "../../definition/define-kind.ts";
import { nonNegative } from "../../definition/field-checks.ts";
import { type FieldError, type FieldPath, required } from "../../machinery/errors/field-error.ts";
import { matcherOf } from "../../machinery/names/labels.ts";
import { checkDns1123Subdomain } from "../../machinery/names/names.ts";
import type { Draft } from "../../machinery/schema/object.ts";
import type {
  PodTemplateSpec,
  ReplicationController as ReplicationControllerObject,
  ReplicationControllerSpec,
} from "../../types/core-v1.ts";
import { defaultPodTemplateSpec } from "../pod/index.ts";
import { validateReplicaCounts } from "./replica-counts.ts";
import { podNameWarnings, templateWarnings, validateReplicatedTemplate } from "./template.ts";
import { templateColumns } from "./template-columns.ts";

const specType = "io.k8s.api.core.v1.ReplicationControllerSpec";
const statusType = "io.k8s.api.core.v1.ReplicationControllerStatus";

export const ReplicationController = defineKind<ReplicationControllerObject>("v1", "ReplicationController", {
  // A prefix of names is not validated as a name.
  validateName: (name, isPrefix) => (isPrefix ? [] : checkDns1123Subdomain(name)),
  defaults(draft) {
    const { spec } = draft;
    if (spec === undefined) return;
    takeTemplateLabels(draft, spec.template?.metadata?.labels);
    spec.replicas ??= 1;
    if (spec.template !== undefined) defaultPodTemplateSpec(spec.template);
  },
  create: {
    validate: ({ spec }, at) => validateSpec(spec, undefined, at.child("spec")),
  },
  update: {
    validate: ({ spec }, old, at) => validateSpec(spec, old.spec, at.child("spec")),
  },
  // From before garbage collection: pods are orphaned, unless the client asks otherwise.
  delete: { defaultPropagation: "Orphan" },
  generation: "spec",
  subresources: {
    status: { validate: ({ status }, _old, at) => validateReplicaCounts(status, at.child("status")) },
    scale: { replicas: "spec.replicas", statusReplicas: "status.replicas", selector: "spec.selector" },
  },
  selectableFields: { names: ["status.replicas"], valueOf: ({ status }) => String(status?.replicas ?? 0) },
  // An update gives no warnings.
  warnings(object, old) {
    if (old !== undefined) return [];
    return [...podNameWarnings(object.metadata.name ?? ""), ...templateWarnings(object, old, object.spec?.template)];
  },
  columns: [
    { name: "Desired", type: "integer", doc: `${specType}.replicas`, cell: ({ spec }) => spec?.replicas ?? 0 },
    { name: "Current", type: "integer", doc: `${statusType}.replicas`, cell: ({ status }) => status?.replicas ?? 0 },
    {
      name: "Ready",
      type: "integer",
      doc: `${statusType}.readyReplicas`,
      cell: ({ status }) => status?.readyReplicas ?? 0,
    },
    ageColumn,
    ...templateColumns<ReplicationControllerObject>(({ spec }) => spec?.template),
    {
      name: "Selector",
      type: "string",
      priority: 1,
      doc: `${specType}.selector`,
      cell: ({ spec }) => labelsText(spec?.selector),
    },
  ],
});

/** A controller without a selector or labels takes those of its template. */
function takeTemplateLabels(
  { metadata, spec }: Draft<ReplicationControllerObject>,
  labels: Readonly<Record<string, string>> | undefined,
): void {
  if (labels === undefined || spec === undefined) return;
  if (isEmpty(spec.selector)) spec.selector = { ...labels };
  if (isEmpty(metadata.labels)) metadata.labels = { ...labels };
}

function validateSpec(
  spec: ReplicationControllerSpec | undefined,
  old: ReplicationControllerSpec | undefined,
  at: FieldPath,
): readonly FieldError[] {
  const selector = spec?.selector ?? {};
  return [
    ...nonNegative(spec?.minReadySeconds, at.child("minReadySeconds")),
    ...(isEmpty(selector) ? [required(at.child("selector"))] : []),
    ...(spec?.replicas === undefined
      ? [required(at.child("replicas"))]
      : nonNegative(spec.replicas, at.child("replicas"))),
    ...validateTemplate(spec?.template, old?.template, selector, at.child("template")),
  ];
}

function validateTemplate(
  template: PodTemplateSpec | undefined,
  old: PodTemplateSpec | undefined,
  selector: Readonly<Record<string, string>>,
  at: FieldPath,
): readonly FieldError[] {
  if (template === undefined) return [required(at)];
  const requirements = Object.entries(selector).map(([key, value]) => ({
    key,
    operator: "=" as const,
    values: [value],
  }));
  return validateReplicatedTemplate(template, old, matcherOf(requirements), at, "ReplicationController");
}

function isEmpty(map: Readonly<Record<string, string>> | undefined): boolean {
  return Object.keys(map ?? {}).length === 0;
}
