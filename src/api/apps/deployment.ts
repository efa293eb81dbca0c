/** Deployment: a sequence of ReplicaSets, one for each version of the template. */

import { defaultPodTemplateSpec } from "../core/pod/index.ts";
import { podNameWarnings, templateWarnings } from "../core/workload/template.ts";
import { selectorColumn, templateColumns } from "../core/workload/template-columns.ts";
import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { same, unchanged } from "../definition/field-checks.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type { Deployment as DeploymentObject, DeploymentStrategy } from "../types/apps-v1.ts";
import { validateDeploymentSpec, validateDeploymentStatus } from "./deployment-validation.ts";

const statusType = "io.k8s.api.apps.v1.DeploymentStatus";

export const Deployment = defineKind<DeploymentObject>("apps/v1", "Deployment", {
  defaults(draft) {
    const { spec } = draft;
    if (spec === undefined) return;
    spec.replicas ??= 1;
    spec.strategy ??= {};
    defaultStrategy(spec.strategy);
    spec.revisionHistoryLimit ??= 10;
    spec.progressDeadlineSeconds ??= 600;
    spec.template ??= {};
    defaultPodTemplateSpec(spec.template);
  },
  create: {
    validate: ({ spec }, at) => validateDeploymentSpec(spec, undefined, at.child("spec")),
  },
  update: {
    validate: ({ spec }, old, at) => [
      ...validateDeploymentSpec(spec, old.spec, at.child("spec")),
      ...unchanged(spec?.selector, old.spec?.selector, at.child("spec", "selector")),
    ],
  },
  // Annotations count too: rollbacks were once requested with one.
  generation: {
    changed: (next, old) => !same(next.spec, old.spec) || !same(next.metadata.annotations, old.metadata.annotations),
  },
  subresources: {
    status: {
      keeps: "annotations",
      validate: ({ status }, old, at) => validateDeploymentStatus(status, old.status, at.child("status")),
    },
    scale: { replicas: "spec.replicas", statusReplicas: "status.replicas", selector: "spec.selector" },
  },
  warnings(object, old) {
    const names = old === undefined ? podNameWarnings(object.metadata.name ?? "") : [];
    return [...names, ...templateWarnings(object, old, object.spec?.template)];
  },
  columns: [
    {
      name: "Ready",
      type: "string",
      doc: "columns.deployment.Ready",
      description: "How many Pods are ready, of how many.",
      cell: ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    },
    {
      name: "Up-to-date",
      type: "string",
      doc: `${statusType}.updatedReplicas`,
      cell: ({ status }) => status?.updatedReplicas ?? 0,
    },
    {
      name: "Available",
      type: "string",
      doc: `${statusType}.availableReplicas`,
      cell: ({ status }) => status?.availableReplicas ?? 0,
    },
    ageColumn,
    ...templateColumns<DeploymentObject>(({ spec }) => spec?.template),
    selectorColumn<DeploymentObject>("io.k8s.api.apps.v1.DeploymentSpec.selector", ({ spec }) => spec?.selector),
  ],
});

function defaultStrategy(strategy: Draft<DeploymentStrategy>): void {
  strategy.type ??= "RollingUpdate";
  if (strategy.type !== "RollingUpdate") return;
  strategy.rollingUpdate ??= {};
  strategy.rollingUpdate.maxUnavailable ??= "25%";
  strategy.rollingUpdate.maxSurge ??= "25%";
}
