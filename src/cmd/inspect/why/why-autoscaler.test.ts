import { expect, it } from "vitest";
import type { autoscaling } from "#api";
import type { Explanation } from "#controllers";
import { renderAnswer } from "./answer.ts";
import { whyAutoscaler } from "./why-autoscaler.ts";

type Condition = autoscaling.HorizontalPodAutoscalerCondition;
const condition = (type: string, status: string, reason: string, message: string): Condition => ({
  type,
  status,
  reason,
  message,
});
const READY = condition("AbleToScale", "True", "ReadyForNewScale", "recommended size matches current size");
const STABLE = condition("AbleToScale", "True", "ScaleDownStabilized", "recent recommendations were higher");
const VALID = condition("ScalingActive", "True", "ValidMetricFound", "the HPA was able to compute");
const FREE = condition(
  "ScalingLimited",
  "False",
  "DesiredWithinRange",
  "the desired count is within the acceptable range",
);
const FULL = condition("ScalingLimited", "True", "TooManyReplicas", "more than the maximum replica count");

const hpa = (conditions: readonly Condition[], desiredReplicas = 4): autoscaling.HorizontalPodAutoscaler => ({
  metadata: { name: "web", namespace: "default" },
  spec: { scaleTargetRef: { kind: "Deployment", name: "web" }, minReplicas: 1, maxReplicas: 4 },
  status: { currentReplicas: 4, desiredReplicas, conditions },
});
const tolerances = { up: 0.1, down: 0.1 };
const metric = (
  rule: "ratio" | "tolerance" | "assumed" | "direction",
  ratio: number,
  replicas: number,
): Explanation => ({
  tolerances,
  metrics: [{ title: "cpu, 100% with a target of 50%,", rule, ratio, replicas }],
});

it.each<[name: string, conditions: readonly Condition[], explanation: Explanation, want: string[]]>([
  [
    "the maximum",
    [READY, VALID, FULL],
    metric("ratio", 2, 8),
    ["is 2 times its target: 8 replicas", "more than the maximum", "raise spec.maxReplicas"],
  ],
  [
    "the window",
    [STABLE, VALID, FREE],
    metric("ratio", 0.25, 1),
    ["is 0.25 times its target: 1 replicas", "recent recommendations were higher", "stabilizationWindowSeconds"],
  ],
  [
    "the tolerance",
    [READY, VALID, FREE],
    metric("tolerance", 1.05, 4),
    ["is 1.05 times its target, within the tolerance (10 % below, 10 % above): no change", "recommended size matches"],
  ],
  [
    "missing figures",
    [READY, VALID, FREE],
    metric("assumed", 1.3, 4),
    ["Pods without figures may make up for it: no change"],
  ],
  ["the other direction", [READY, VALID, FREE], metric("direction", 0.9, 4), ["would move the other way"]],
  [
    "no metrics",
    [READY, condition("ScalingActive", "False", "FailedGetResourceMetric", "unable to compute"), FREE],
    { tolerances, metrics: [{ title: "Resource", problem: "no metrics returned" }] },
    ["Resource: no metrics returned", "unable to compute", "kubectl top pods"],
  ],
  [
    "no target",
    [condition("AbleToScale", "False", "FailedGetScale", "not found")],
    { tolerances, metrics: [] },
    ["hpa/web cannot scale deployment/web: not found", "must exist"],
  ],
  ["nothing yet", [], { tolerances, metrics: [] }, ["its controller has not seen it yet"]],
])("%s", (_name, conditions, explanation, want) => {
  const text = renderAnswer(whyAutoscaler({ hpa: hpa(conditions), explanation }));
  if (!text.startsWith("hpa/web cannot"))
    expect(text).toContain("hpa/web wants 4 replicas of deployment/web, which has 4 (1 to 4)");
  for (const each of want) expect(text).toContain(each);
});
