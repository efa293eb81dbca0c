/** DaemonSet: a pod on each node. */

import { defaultPodTemplateSpec } from "../core/pod/index.ts";
import { templateWarnings } from "../core/workload/template.ts";
import { selectorColumn, templateColumns } from "../core/workload/template-columns.ts";
import { ageColumn, labelsText } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { same, unchanged } from "../definition/field-checks.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type { DaemonSet as DaemonSetObject, DaemonSetStatus, DaemonSetUpdateStrategy } from "../types/apps-v1.ts";
import { validateDaemonSetSpec, validateDaemonSetStatus } from "./daemon-set-validation.ts";

/** Counts the changes of the template. Formerly a field of the spec; clients cannot set it. */
export const templateGenerationAnnotation = "deprecated.daemonset.template.generation";

const statusType = "io.k8s.api.apps.v1.DaemonSetStatus";

export const DaemonSet = defineKind<DaemonSetObject>("apps/v1", "DaemonSet", {
  defaults(draft) {
    const { spec } = draft;
    // Set here and not only in `prepare`, so that the writer of the object owns it.
    setTemplateGeneration(draft, templateGenerationOf(draft));
    if (spec === undefined) return;
    spec.updateStrategy ??= {};
    defaultStrategy(spec.updateStrategy);
    spec.revisionHistoryLimit ??= 10;
    spec.template ??= {};
    defaultPodTemplateSpec(spec.template);
  },
  create: {
    prepare(draft) {
      setTemplateGeneration(draft, Math.max(templateGenerationOf(draft), 1));
    },
    validate: ({ spec }, at) => validateDaemonSetSpec(spec, undefined, at.child("spec")),
  },
  update: {
    prepare(draft, old) {
      const changed = !same(draft.spec?.template, old.spec?.template);
      setTemplateGeneration(draft, templateGenerationOf(old) + (changed ? 1 : 0));
    },
    validate({ spec }, old, at) {
      const errors = validateDaemonSetSpec(spec, old.spec, at.child("spec"));
      return [...errors, ...unchanged(spec?.selector, old.spec?.selector, at.child("spec", "selector"))];
    },
  },
  generation: "spec",
  subresources: {
    status: { validate: ({ status }, old, at) => validateDaemonSetStatus(status, old.status, at.child("status")) },
  },
  metadataAlone: ({ metadata }) => {
    const { [templateGenerationAnnotation]: _, ...annotations } = metadata.annotations ?? {};
    const { annotations: _all, ...rest } = metadata;
    return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations };
  },
  warnings: (set, old) => templateWarnings(set, old, set.spec?.template),
  columns: [
    countColumn("Desired", "desiredNumberScheduled"),
    countColumn("Current", "currentNumberScheduled"),
    countColumn("Ready", "numberReady"),
    countColumn("Up-to-date", "updatedNumberScheduled"),
    countColumn("Available", "numberAvailable"),
    {
      name: "Node Selector",
      type: "string",
      doc: "io.k8s.api.core.v1.PodSpec.nodeSelector",
      cell: ({ spec }) => labelsText(spec?.template.spec?.nodeSelector),
    },
    ageColumn,
    ...templateColumns<DaemonSetObject>(({ spec }) => spec?.template),
    selectorColumn<DaemonSetObject>("io.k8s.api.apps.v1.DaemonSetSpec.selector", ({ spec }) => spec?.selector),
  ],
});

type Count =
  | "desiredNumberScheduled"
  | "currentNumberScheduled"
  | "numberReady"
  | "updatedNumberScheduled"
  | "numberAvailable";

function countColumn(name: string, field: Count & keyof DaemonSetStatus) {
  const cell = ({ status }: DaemonSetObject) => status?.[field] ?? 0;
  return { name, type: "integer", doc: `${statusType}.${field}`, cell } as const;
}

function defaultStrategy(strategy: Draft<DaemonSetUpdateStrategy>): void {
  strategy.type ??= "RollingUpdate";
  if (strategy.type !== "RollingUpdate") return;
  strategy.rollingUpdate ??= {};
  strategy.rollingUpdate.maxUnavailable ??= 1;
  strategy.rollingUpdate.maxSurge ??= 0;
}

function templateGenerationOf({ metadata }: Pick<DaemonSetObject, "metadata">): number {
  const text = metadata.annotations?.[templateGenerationAnnotation] ?? "";
  return /^-?\d+$/.test(text) ? Number(text) : 0;
}

function setTemplateGeneration({ metadata }: Pick<Draft<DaemonSetObject>, "metadata">, count: number): void {
  metadata.annotations = { ...metadata.annotations, [templateGenerationAnnotation]: String(count) };
}
