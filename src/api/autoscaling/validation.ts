/** Validation of HorizontalPodAutoscalers. */
import { allNonNegative } from "../definition/field-checks.ts";
import { type FieldError, type FieldPath, invalid, notSupported, required } from "../machinery/errors/field-error.ts";
import type { FeatureGates } from "../machinery/kind.ts";
import { parseQuantity } from "../machinery/scalars/quantity.ts";
import type {
  HorizontalPodAutoscalerSpec,
  HorizontalPodAutoscalerStatus,
  HPAScalingPolicy,
  HPAScalingRules,
} from "../types/autoscaling-v2.ts";
import { type Reference, validateMetrics, validateReference } from "./metric-validation.ts";

const maxStabilizationWindowSeconds = 3600;
const maxPeriodSeconds = 1800;

export function validateHpaSpec(
  spec: HorizontalPodAutoscalerSpec,
  old: HorizontalPodAutoscalerSpec | undefined,
  at: FieldPath,
  features?: FeatureGates,
): readonly FieldError[] {
  const { minReplicas, maxReplicas = 0 } = spec;
  // Scaling to zero is off by default: an autoscaler that has it keeps it.
  const least = features?.enabled("HPAScaleToZero") === true || old?.minReplicas === 0 ? 0 : 1;
  const maxAt = at.child("maxReplicas");
  const errors: FieldError[] = [];
  if (minReplicas !== undefined && minReplicas < least) {
    errors.push(invalid(at.child("minReplicas"), minReplicas, `must be greater than or equal to ${least}`));
  }
  if (maxReplicas === 0) errors.push(required(maxAt, "must be set and greater than 0"));
  if (maxReplicas < 0) errors.push(invalid(maxAt, maxReplicas, "must be greater than or equal to 1"));
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    errors.push(invalid(maxAt, maxReplicas, "must be greater than or equal to `minReplicas`"));
  }
  errors.push(...validateScaleTarget(spec.scaleTargetRef, old?.scaleTargetRef, at.child("scaleTargetRef")));
  errors.push(...validateMetrics(spec.metrics ?? [], minReplicas, at.child("metrics")));
  errors.push(...validateScalingRules(spec.behavior?.scaleUp, at.child("behavior", "scaleUp")));
  errors.push(...validateScalingRules(spec.behavior?.scaleDown, at.child("behavior", "scaleDown")));
  return errors;
}

function validateScaleTarget(target: Reference, old: Reference, at: FieldPath): readonly FieldError[] {
  const errors = validateReference(target, at);
  const { apiVersion = "", kind } = target ?? {};
  if (old !== undefined && (old.apiVersion ?? "") === apiVersion) return errors;
  const hasGroup = apiVersion.includes("/") || (apiVersion === "v1" && kind === "ReplicationController");
  return hasGroup
    ? errors
    : [...errors, invalid(at.child("apiVersion"), apiVersion, "apiVersion must specify API group")];
}

function validateScalingRules(rules: HPAScalingRules | undefined, at: FieldPath): readonly FieldError[] {
  if (rules === undefined) return [];
  const { stabilizationWindowSeconds: window = 0, selectPolicy, policies = [], tolerance } = rules;
  const windowAt = at.child("stabilizationWindowSeconds");
  const errors: FieldError[] = [];
  if (window < 0) errors.push(invalid(windowAt, window, "must be greater than or equal to zero"));
  if (window > maxStabilizationWindowSeconds) {
    errors.push(invalid(windowAt, window, `must be less than or equal to ${maxStabilizationWindowSeconds}`));
  }
  const known = ["Disabled", "Max", "Min"];
  if (selectPolicy !== undefined && !known.includes(selectPolicy))
    errors.push(notSupported(at.child("selectPolicy"), selectPolicy, known));
  if (policies.length === 0) errors.push(required(at.child("policies"), "must specify at least one Policy"));
  for (const [i, policy] of policies.entries())
    errors.push(...validateScalingPolicy(policy, at.child("policies").index(i)));
  if (tolerance !== undefined && parseQuantity(tolerance).unscaled < 0n) {
    errors.push(invalid(at.child("tolerance"), tolerance, "must be greater than or equal to 0"));
  }
  return errors;
}

function validateScalingPolicy(
  { type = "", value = 0, periodSeconds = 0 }: HPAScalingPolicy,
  at: FieldPath,
): readonly FieldError[] {
  const known = ["Percent", "Pods"];
  const periodAt = at.child("periodSeconds");
  const errors: FieldError[] = [];
  if (!known.includes(type)) errors.push(notSupported(at.child("type"), type, known));
  if (value <= 0) errors.push(invalid(at.child("value"), value, "must be greater than zero"));
  if (periodSeconds <= 0) errors.push(invalid(periodAt, periodSeconds, "must be greater than zero"));
  if (periodSeconds > maxPeriodSeconds)
    errors.push(invalid(periodAt, periodSeconds, `must be less than or equal to ${maxPeriodSeconds}`));
  return errors;
}

export function validateHpaStatus(
  status: Pick<HorizontalPodAutoscalerStatus, "currentReplicas" | "desiredReplicas"> | undefined,
  at: FieldPath,
): readonly FieldError[] {
  return status === undefined ? [] : allNonNegative(status, ["currentReplicas", "desiredReplicas"], at);
}
