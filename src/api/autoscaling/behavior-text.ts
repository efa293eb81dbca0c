/**
 * An autoscaler's behavior as the annotation of autoscaling/v1 holds it: with the names of Go's fields. Keys are read
 * case-insensitively.
 */
import { goJson } from "../machinery/json/go-text.ts";
import { isObject, type Json, type JsonObject } from "../machinery/json/json.ts";
import type { HorizontalPodAutoscalerBehavior, HPAScalingPolicy, HPAScalingRules } from "../types/autoscaling-v2.ts";

export function behaviorText({ scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior): string {
  return goJson({ ScaleUp: rulesJson(scaleUp), ScaleDown: rulesJson(scaleDown) });
}

/** Undefined where it is absent or invalid. */
export function behaviorFromText(text: string | undefined): HorizontalPodAutoscalerBehavior | undefined {
  if (text === undefined) return undefined;
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (!isObject(value)) return undefined;
  const scaleUp = rulesOf(field(value, "scaleUp"));
  const scaleDown = rulesOf(field(value, "scaleDown"));
  if (scaleUp === undefined && scaleDown === undefined) return undefined;
  return { ...(scaleUp === undefined ? {} : { scaleUp }), ...(scaleDown === undefined ? {} : { scaleDown }) };
}

function rulesJson(rules: HPAScalingRules | undefined): Json {
  if (rules === undefined) return null;
  const { stabilizationWindowSeconds = null, selectPolicy = null, policies, tolerance = null } = rules;
  return {
    StabilizationWindowSeconds: stabilizationWindowSeconds,
    SelectPolicy: selectPolicy,
    Policies:
      policies?.map(({ type, value, periodSeconds }) => ({ Type: type, Value: value, PeriodSeconds: periodSeconds })) ??
      null,
    Tolerance: tolerance,
  };
}

function rulesOf(value: Json | undefined): HPAScalingRules | undefined {
  if (value === undefined || !isObject(value)) return undefined;
  const window = field(value, "stabilizationWindowSeconds");
  const selectPolicy = field(value, "selectPolicy");
  const policies = field(value, "policies");
  const tolerance = field(value, "tolerance");
  return {
    ...(typeof window === "number" ? { stabilizationWindowSeconds: window } : {}),
    ...(typeof selectPolicy === "string" ? { selectPolicy } : {}),
    ...(Array.isArray(policies) ? { policies: policies.filter(isObject).map(policyOf) } : {}),
    ...(typeof tolerance === "string" ? { tolerance } : {}),
  };
}

function policyOf(value: JsonObject): HPAScalingPolicy {
  const type = field(value, "type");
  const count = field(value, "value");
  const periodSeconds = field(value, "periodSeconds");
  return {
    type: typeof type === "string" ? type : "",
    value: typeof count === "number" ? count : 0,
    periodSeconds: typeof periodSeconds === "number" ? periodSeconds : 0,
  };
}

function field(object: JsonObject, name: string): Json | undefined {
  const key = Object.keys(object).find((each) => each.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : object[key];
}
