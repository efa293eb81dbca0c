/** Validation of Deployments. */

import { checkSelector } from "../core/workload/selector.ts";
import { validateReplicatedTemplate } from "../core/workload/template.ts";
import {
  allNonNegative,
  atMost100Percent,
  neverDecremented,
  nonNegative,
  nonNegativeIntOrPercent,
  plainNumber,
} from "../definition/field-checks.ts";
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from "../machinery/errors/field-error.ts";
import type {
  DeploymentSpec,
  DeploymentStatus,
  DeploymentStrategy,
  RollingUpdateDeployment,
} from "../types/apps-v1.ts";

export function validateDeploymentSpec(
  spec: DeploymentSpec | undefined,
  old: DeploymentSpec | undefined,
  at: FieldPath,
): readonly FieldError[] {
  const { errors, matcher } = checkSelector(spec?.selector, at.child("selector"), {
    empty: "empty selector is invalid for deployment",
    unreadable: "invalid label selector",
  });
  return [
    ...nonNegative(spec?.replicas, at.child("replicas")),
    ...errors,
    ...(matcher === undefined
      ? []
      : validateReplicatedTemplate(spec?.template, old?.template, matcher, at.child("template"))),
    ...validateStrategy(spec?.strategy ?? {}, at.child("strategy")),
    ...nonNegative(spec?.minReadySeconds, at.child("minReadySeconds")),
    ...nonNegative(spec?.revisionHistoryLimit, at.child("revisionHistoryLimit")),
    ...validateDeadline(spec?.progressDeadlineSeconds, spec?.minReadySeconds ?? 0, at.child("progressDeadlineSeconds")),
  ];
}

function validateDeadline(seconds: number | undefined, minReadySeconds: number, at: FieldPath): readonly FieldError[] {
  if (seconds === undefined) return [];
  const tooEarly = seconds <= minReadySeconds ? [invalid(at, seconds, "must be greater than minReadySeconds")] : [];
  return [...nonNegative(seconds, at), ...tooEarly];
}

function validateStrategy(strategy: DeploymentStrategy, at: FieldPath): readonly FieldError[] {
  const { type = "", rollingUpdate } = strategy;
  if (type === "RollingUpdate") {
    if (rollingUpdate === undefined)
      return [required(at.child("rollingUpdate"), "this should be defaulted and never be nil")];
    return validateRollingUpdate(rollingUpdate, at.child("rollingUpdate"));
  }
  if (type === "Recreate") {
    if (rollingUpdate === undefined) return [];
    return [forbidden(at.child("rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'")];
  }
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate ?? {};
  const shown = {
    Type: type,
    RollingUpdate: rollingUpdate === undefined ? null : { MaxUnavailable: maxUnavailable, MaxSurge: maxSurge },
  };
  return [notSupported(at, shown, ["Recreate", "RollingUpdate"])];
}

function validateRollingUpdate(
  { maxUnavailable = 0, maxSurge = 0 }: RollingUpdateDeployment,
  at: FieldPath,
): readonly FieldError[] {
  const unavailableAt = at.child("maxUnavailable");
  const stuck = plainNumber(maxUnavailable) === 0 && plainNumber(maxSurge) === 0;
  return [
    ...nonNegativeIntOrPercent(maxUnavailable, unavailableAt),
    ...nonNegativeIntOrPercent(maxSurge, at.child("maxSurge")),
    ...(stuck ? [invalid(unavailableAt, maxUnavailable, "may not be 0 when `maxSurge` is 0")] : []),
    ...atMost100Percent(maxUnavailable, unavailableAt),
  ];
}

const counts = [
  "observedGeneration",
  "replicas",
  "updatedReplicas",
  "readyReplicas",
  "availableReplicas",
  "unavailableReplicas",
  "terminatingReplicas",
  "collisionCount",
] as const;

export function validateDeploymentStatus(
  status: DeploymentStatus = {},
  old: DeploymentStatus | undefined,
  at: FieldPath,
): readonly FieldError[] {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  const tooHigh = (["updatedReplicas", "readyReplicas", "availableReplicas"] as const)
    .filter((name) => (status[name] ?? 0) > replicas)
    .map((name) => invalid(at.child(name), status[name] ?? 0, "cannot be greater than status.replicas"));
  return [
    ...allNonNegative(status, counts, at),
    ...tooHigh,
    ...(availableReplicas > readyReplicas
      ? [invalid(at.child("availableReplicas"), availableReplicas, "cannot be greater than readyReplicas")]
      : []),
    ...neverDecremented(status.collisionCount, old?.collisionCount, at.child("collisionCount")),
  ];
}
