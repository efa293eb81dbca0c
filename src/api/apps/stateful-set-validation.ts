/** Validation of StatefulSets. */

import { podTemplateOptions, validatePodTemplateSpec } from "../core/pod/index.ts";
import { validateClaimSpec } from "../core/volumes/persistent-volume-claim-validation.ts";
import { checkSelector, checkTemplateMatches } from "../core/workload/selector.ts";
import { validateAlwaysRestarts, validateNoDeadline } from "../core/workload/template.ts";
import {
  allNonNegative,
  atMost100Percent,
  neverDecremented,
  nonNegative,
  nonNegativeIntOrPercent,
  plainNumber,
  same,
} from "../definition/field-checks.ts";
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from "../machinery/errors/field-error.ts";
import { validateLabels } from "../machinery/names/labels.ts";
import { checkDns1123Label } from "../machinery/names/names.ts";
import { validateAnnotations } from "../machinery/object-meta.ts";
import type {
  RollingUpdateStatefulSetStrategy,
  StatefulSetSpec,
  StatefulSetStatus,
  StatefulSetUpdateStrategy,
} from "../types/apps-v1.ts";
import type { PersistentVolumeClaim, PodTemplateSpec } from "../types/core-v1.ts";

export interface StatefulSetLeniency {
  /** False for an existing set, whose service name and claims are not validated: they are immutable. */
  readonly isNew: boolean;
  /** The template as it was before an update. */
  readonly oldTemplate?: PodTemplateSpec | undefined;
  /** The set was stored before pod templates were validated. */
  readonly anyTemplate?: boolean;
}

export function validateStatefulSetSpec(
  spec: StatefulSetSpec | undefined,
  at: FieldPath,
  { isNew, oldTemplate, anyTemplate = false }: StatefulSetLeniency,
): readonly FieldError[] {
  const template = spec?.template;
  const templateAt = at.child("template");
  const { errors, matcher } = checkSelector(spec?.selector, at.child("selector"), {
    empty: "empty selector is invalid for statefulset",
    unreadable: "",
  });
  const options = podTemplateOptions(template, oldTemplate);
  return [
    ...validatePodManagementPolicy(spec?.podManagementPolicy ?? "", at.child("podManagementPolicy")),
    ...validateStrategy(spec?.updateStrategy ?? {}, at.child("updateStrategy")),
    ...validateRetention(spec?.persistentVolumeClaimRetentionPolicy, at.child("persistentVolumeClaimRetentionPolicy")),
    ...(isNew ? validateClaims(spec?.volumeClaimTemplates ?? [], at.child("volumeClaimTemplates")) : []),
    ...nonNegative(spec?.replicas, at.child("replicas")),
    ...nonNegative(spec?.minReadySeconds, at.child("minReadySeconds")),
    ...nonNegative(spec?.ordinals?.start, at.child("ordinals", "start")),
    ...(isNew ? validateServiceName(spec?.serviceName ?? "", at.child("serviceName")) : []),
    ...errors,
    ...(matcher === undefined ? [] : checkTemplateMatches(template, matcher, templateAt)),
    ...(matcher === undefined || anyTemplate ? [] : validatePodTemplateSpec(asRun(spec), templateAt, options)),
    // Kubernetes validates these twice.
    ...(matcher === undefined ? [] : validateTemplateMetadata(template?.metadata, templateAt)),
    ...validateAlwaysRestarts(template, templateAt),
    ...validateNoDeadline(template, templateAt, "StatefulSet"),
  ];
}

/** The only mutable fields. */
const changeable = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
] as const;

const others = `'${changeable.slice(0, -1).join("', '")}' and '${changeable.at(-1)}'`;

export function validateStatefulSetUpdate(
  spec: StatefulSetSpec | undefined,
  old: StatefulSetSpec | undefined,
  at: FieldPath,
): readonly FieldError[] {
  const leniency = { isNew: false, oldTemplate: old?.template };
  const anyTemplate = validateStatefulSetSpec(old, at, leniency).length > 0;
  const errors = validateStatefulSetSpec(spec, at, { ...leniency, anyTemplate });
  if (same(fixedPart(spec), fixedPart(old))) return errors;
  return [...errors, forbidden(at, `updates to statefulset spec for fields other than ${others} are forbidden`)];
}

function fixedPart(spec: StatefulSetSpec | undefined): object {
  const part: Partial<Record<keyof StatefulSetSpec, unknown>> = { ...spec };
  for (const name of changeable) delete part[name];
  return part;
}

function validateTemplateMetadata(metadata: PodTemplateSpec["metadata"], at: FieldPath): readonly FieldError[] {
  return [
    ...validateLabels(metadata?.labels, at.child("labels")),
    ...validateAnnotations(metadata?.annotations, at.child("annotations")),
  ];
}

/**
 * The template as the set's pods get it: its claims become volumes and replace volumes of the same name, and each pod
 * has a hostname of its own.
 */
function asRun(spec: StatefulSetSpec | undefined): PodTemplateSpec | undefined {
  const template = spec?.template;
  if (template?.spec === undefined) return template;
  const { hostname: _, ...others } = template.spec;
  const own = template.spec.volumes ?? [];
  const names = new Set((spec?.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name ?? ""));
  if (names.size === 0) return { ...template, spec: others };
  const added = [...names]
    .filter((name) => !own.some((volume) => volume.name === name))
    .map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return { ...template, spec: { ...others, volumes: [...own, ...added] } };
}

function validatePodManagementPolicy(policy: string, at: FieldPath): readonly FieldError[] {
  if (policy === "OrderedReady" || policy === "Parallel") return [];
  return [policy === "" ? required(at) : invalid(at, policy, "must be 'OrderedReady' or 'Parallel'")];
}

function validateStrategy({ type, rollingUpdate }: StatefulSetUpdateStrategy, at: FieldPath): readonly FieldError[] {
  switch (type) {
    case undefined:
      return [required(at)];
    case "OnDelete":
      if (rollingUpdate === undefined) return [];
      return [
        invalid(at.child("rollingUpdate"), shown(rollingUpdate), "only allowed for updateStrategy 'RollingUpdate'"),
      ];
    case "RollingUpdate":
      return rollingUpdate === undefined ? [] : validateRollingUpdate(rollingUpdate, at.child("rollingUpdate"));
    default: {
      const strategy = { Type: type, RollingUpdate: rollingUpdate === undefined ? null : shown(rollingUpdate) };
      return [invalid(at, strategy, "must be 'RollingUpdate' or 'OnDelete'")];
    }
  }
}

/** As Kubernetes prints it: with the names of the Go fields. */
function shown({
  partition = 0,
  maxUnavailable = null,
}: {
  partition?: number;
  maxUnavailable?: number | string | null;
}) {
  return { Partition: partition, MaxUnavailable: maxUnavailable };
}

function validateRollingUpdate(
  { partition, maxUnavailable }: RollingUpdateStatefulSetStrategy,
  at: FieldPath,
): readonly FieldError[] {
  const errors = nonNegative(partition, at.child("partition"));
  if (maxUnavailable === undefined) return errors;
  const unavailableAt = at.child("maxUnavailable");
  return [
    ...errors,
    ...nonNegativeIntOrPercent(maxUnavailable, unavailableAt),
    ...(plainNumber(maxUnavailable) === 0 ? [invalid(unavailableAt, maxUnavailable, "cannot be 0")] : []),
    ...atMost100Percent(maxUnavailable, unavailableAt),
  ];
}

function validateRetention(
  policy: StatefulSetSpec["persistentVolumeClaimRetentionPolicy"],
  at: FieldPath,
): readonly FieldError[] {
  if (policy === undefined) return [];
  return (["whenDeleted", "whenScaled"] as const)
    .filter((name) => policy[name] !== "Retain" && policy[name] !== "Delete")
    .map((name) => notSupported(at.child(name), policy[name] ?? "", ["Retain", "Delete"]));
}

function validateClaims(claims: readonly PersistentVolumeClaim[], at: FieldPath): readonly FieldError[] {
  return claims.flatMap(({ spec = {} }, i) => validateClaimSpec(spec, at.index(i).child("spec")));
}

function validateServiceName(name: string, at: FieldPath): readonly FieldError[] {
  return name === "" ? [] : checkDns1123Label(name).map((why) => invalid(at, name, why));
}

const counts = [
  "replicas",
  "readyReplicas",
  "currentReplicas",
  "updatedReplicas",
  "availableReplicas",
  "observedGeneration",
  "collisionCount",
] as const;

export function validateStatefulSetStatus(
  status: StatefulSetStatus | undefined,
  old: StatefulSetStatus | undefined,
  at: FieldPath,
): readonly FieldError[] {
  if (status === undefined) return [];
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  const tooHigh = (["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"] as const)
    .filter((name) => (status[name] ?? 0) > replicas)
    .map((name) => invalid(at.child(name), status[name] ?? 0, "cannot be greater than status.replicas"));
  return [
    ...allNonNegative(status, counts, at),
    ...tooHigh,
    ...(availableReplicas > readyReplicas
      ? [invalid(at.child("availableReplicas"), availableReplicas, "cannot be greater than status.readyReplicas")]
      : []),
    ...neverDecremented(status.collisionCount, old?.collisionCount, at.child("collisionCount")),
  ];
}
