/** Validation of DaemonSets. */
import { podTemplateOptions, validatePodTemplateSpec } from "../core/pod/index.ts";
import { checkTemplateMatches, isEmptySelector, readSelector } from "../core/workload/selector.ts";
import { validateAlwaysRestarts, validateNoDeadline } from "../core/workload/template.ts";
import {
  allNonNegative,
  atMost100Percent,
  jsonOf,
  neverDecremented,
  nonNegative,
  nonNegativeIntOrPercent,
  plainNumber,
} from "../definition/field-checks.ts";
import { type FieldError, type FieldPath, invalid, notSupported, required } from "../machinery/errors/field-error.ts";
import { validateLabelSelector } from "../machinery/names/labels.ts";
import type {
  DaemonSetSpec,
  DaemonSetStatus,
  DaemonSetUpdateStrategy,
  RollingUpdateDaemonSet,
} from "../types/apps-v1.ts";

export function validateDaemonSetSpec(
  spec: DaemonSetSpec | undefined,
  old: DaemonSetSpec | undefined,
  at: FieldPath,
): readonly FieldError[] {
  const selector = spec?.selector ?? undefined;
  const template = spec?.template;
  const templateAt = at.child("template");
  const matcher = readSelector(selector);
  const isEmpty = selector !== undefined && isEmptySelector(selector);
  return [
    ...validateLabelSelector(selector, at.child("selector")),
    ...(matcher === undefined ? [] : checkTemplateMatches(template, matcher, templateAt)),
    ...(isEmpty ? [invalid(at.child("selector"), jsonOf(selector), "empty selector is invalid for daemonset")] : []),
    ...validatePodTemplateSpec(template, templateAt, podTemplateOptions(template, old?.template)),
    ...validateAlwaysRestarts(template, templateAt),
    ...validateNoDeadline(template, templateAt, "DaemonSet"),
    ...nonNegative(spec?.minReadySeconds, at.child("minReadySeconds")),
    ...validateStrategy(spec?.updateStrategy ?? {}, at.child("updateStrategy")),
    ...nonNegative(spec?.revisionHistoryLimit, at.child("revisionHistoryLimit")),
  ];
}

function validateStrategy({ type, rollingUpdate }: DaemonSetUpdateStrategy, at: FieldPath): readonly FieldError[] {
  if (type === "OnDelete") return [];
  if (type === "RollingUpdate") {
    if (rollingUpdate === undefined) return [required(at.child("rollingUpdate"))];
    return validateRollingUpdate(rollingUpdate, at.child("rollingUpdate"));
  }
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate ?? {};
  const shown = {
    Type: type ?? "",
    RollingUpdate: rollingUpdate === undefined ? null : { MaxUnavailable: maxUnavailable, MaxSurge: maxSurge },
  };
  return [notSupported(at, shown, ["RollingUpdate", "OnDelete"])];
}

/** Exactly one of maxUnavailable and maxSurge is not zero. */
function validateRollingUpdate(
  { maxUnavailable = 0, maxSurge = 0 }: RollingUpdateDaemonSet,
  at: FieldPath,
): readonly FieldError[] {
  const unavailableAt = at.child("maxUnavailable");
  const surgeAt = at.child("maxSurge");
  const errors = [
    ...nonNegativeIntOrPercent(maxUnavailable, unavailableAt),
    ...nonNegativeIntOrPercent(maxSurge, surgeAt),
    ...atMost100Percent(maxUnavailable, unavailableAt),
    ...atMost100Percent(maxSurge, surgeAt),
  ];
  const hasUnavailable = plainNumber(maxUnavailable) !== 0;
  const hasSurge = plainNumber(maxSurge) !== 0;
  if (hasUnavailable && hasSurge)
    return [...errors, invalid(surgeAt, maxSurge, "may not be set when maxUnavailable is non-zero")];
  if (!hasUnavailable && !hasSurge) return [...errors, required(unavailableAt, "cannot be 0 when maxSurge is 0")];
  return errors;
}

const counts = [
  "currentNumberScheduled",
  "numberMisscheduled",
  "desiredNumberScheduled",
  "numberReady",
  "observedGeneration",
  "updatedNumberScheduled",
  "numberAvailable",
  "numberUnavailable",
  "collisionCount",
] as const;

export function validateDaemonSetStatus(
  status: DaemonSetStatus | undefined,
  old: DaemonSetStatus | undefined,
  at: FieldPath,
): readonly FieldError[] {
  return [
    ...(status === undefined ? [] : allNonNegative(status, counts, at)),
    ...neverDecremented(status?.collisionCount, old?.collisionCount, at.child("collisionCount")),
  ];
}
