/** StatefulSet: pods with stable names and volumes. */

import { defaultPodTemplateSpec } from "../core/pod/index.ts";
import { defaultClaimSpec } from "../core/volumes/persistent-volume-claim.ts";
import { templateWarnings } from "../core/workload/template.ts";
import { templateColumns } from "../core/workload/template-columns.ts";
import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { checkDns1123Label, checkPrefix } from "../machinery/names/names.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type { StatefulSet as StatefulSetObject, StatefulSetUpdateStrategy } from "../types/apps-v1.ts";
import type { PersistentVolumeClaim } from "../types/core-v1.ts";
import {
  validateStatefulSetSpec,
  validateStatefulSetStatus,
  validateStatefulSetUpdate,
} from "./stateful-set-validation.ts";

export const StatefulSet = defineKind<StatefulSetObject>("apps/v1", "StatefulSet", {
  // The name of a set is part of its pods' host names.
  validateName: (name, isPrefix) => (isPrefix ? checkPrefix(checkDns1123Label) : checkDns1123Label)(name),
  defaults(draft) {
    const { spec } = draft;
    if (spec === undefined) return;
    spec.podManagementPolicy ??= "OrderedReady";
    spec.updateStrategy ??= {};
    defaultStrategy(spec.updateStrategy);
    spec.persistentVolumeClaimRetentionPolicy ??= {};
    spec.persistentVolumeClaimRetentionPolicy.whenDeleted ??= "Retain";
    spec.persistentVolumeClaimRetentionPolicy.whenScaled ??= "Retain";
    spec.replicas ??= 1;
    spec.revisionHistoryLimit ??= 10;
    spec.template ??= {};
    defaultPodTemplateSpec(spec.template);
    for (const claim of spec.volumeClaimTemplates ?? []) defaultClaim(claim);
  },
  create: {
    validate: ({ spec }, at) => validateStatefulSetSpec(spec, at.child("spec"), { isNew: true }),
  },
  update: {
    validate: ({ spec }, old, at) => validateStatefulSetUpdate(spec, old.spec, at.child("spec")),
  },
  generation: "spec",
  subresources: {
    status: { validate: ({ status }, old, at) => validateStatefulSetStatus(status, old.status, at.child("status")) },
    scale: { replicas: "spec.replicas", statusReplicas: "status.replicas", selector: "spec.selector" },
  },
  warnings(set, old) {
    const negative = (set.spec?.revisionHistoryLimit ?? 0) < 0;
    const history =
      "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended";
    return [...templateWarnings(set, old, set.spec?.template), ...(negative ? [history] : [])];
  },
  columns: [
    {
      name: "Ready",
      type: "string",
      doc: "columns.statefulSet.Ready",
      description: "How many Pods are ready, of how many.",
      cell: ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    },
    ageColumn,
    ...templateColumns<StatefulSetObject>(({ spec }) => spec?.template),
  ],
});

function defaultStrategy(strategy: Draft<StatefulSetUpdateStrategy>): void {
  if (strategy.type === undefined) {
    strategy.type = "RollingUpdate";
    strategy.rollingUpdate ??= {};
  }
  if (strategy.type === "RollingUpdate" && strategy.rollingUpdate !== undefined) strategy.rollingUpdate.partition ??= 0;
}

function defaultClaim(claim: Draft<PersistentVolumeClaim>): void {
  claim.apiVersion = "v1";
  claim.kind = "PersistentVolumeClaim";
  claim.spec ??= {};
  defaultClaimSpec(claim.spec);
  claim.status ??= {};
  claim.status.phase ??= "Pending";
}
