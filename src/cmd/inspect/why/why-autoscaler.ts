/** Why an autoscaler has chosen its number of replicas: its figures, what follows from them, and what holds it back. */
import type { autoscaling } from "#api";
import type { ExplainedMetric, Explanation } from "#controllers";
import type { Reason, WhyAnswer } from "./answer.ts";

type Hpa = autoscaling.HorizontalPodAutoscaler;

export interface AutoscalerFacts {
  readonly hpa: Hpa;
  /** What its controller computes now. */
  readonly explanation: Explanation;
}

const HELP: Readonly<Record<string, (hpa: Hpa) => string>> = {
  FailedGetScale: ({ spec: { scaleTargetRef: target } }) =>
    `the target ${target.kind}/${target.name} must exist and have a scale subresource`,
  FailedGetResourceMetric: () =>
    "`kubectl top pods` shows what is measured; targets in percent need requests in every container",
  FailedGetContainerResourceMetric: () => "the container must exist in every Pod and have a request",
  FailedGetPodsMetric: () => "an adapter must serve custom.metrics.k8s.io: `kubectl get apiservices`",
  FailedGetObjectMetric: () => "an adapter must serve custom.metrics.k8s.io: `kubectl get apiservices`",
  FailedGetExternalMetric: () => "an adapter must serve external.metrics.k8s.io: `kubectl get apiservices`",
  AmbiguousSelector: () => "delete all but one of these autoscalers, or give their targets different selectors",
  ScalingDisabled: ({ spec: { scaleTargetRef: target } }) =>
    `\`kubectl scale ${target.kind.toLowerCase()}/${target.name} --replicas=1\` lets it work again`,
  TooManyReplicas: () => "raise spec.maxReplicas if the load is real",
  ScaleDownStabilized: () => "wait, or set spec.behavior.scaleDown.stabilizationWindowSeconds",
};

export function whyAutoscaler({ hpa, explanation }: AutoscalerFacts): WhyAnswer {
  const { spec, status, metadata } = hpa;
  const { minReplicas = 1, maxReplicas, scaleTargetRef: target } = spec;
  const { currentReplicas = 0, desiredReplicas = 0, conditions = [] } = status ?? {};
  const name = `${target.kind.toLowerCase()}/${target.name}`;
  const isUnable = conditions.some(({ type, status: is }) => type === "AbleToScale" && is === "False");
  const what = isUnable
    ? `hpa/${metadata.name} cannot scale ${name}`
    : `hpa/${metadata.name} wants ${desiredReplicas} replicas of ${name}, which has ${currentReplicas} (${minReplicas} to ${maxReplicas})`;
  if (conditions.length === 0)
    return { what, because: [{ text: "its controller has not seen it yet", evidence: "status.conditions" }], help: [] };
  const of = (type: string) => conditions.find((each) => each.type === type);
  const because: Reason[] = explanation.metrics.map((metric) => reasonOf(metric, explanation.tolerances));
  const telling = [of("AbleToScale"), of("ScalingActive"), of("ScalingLimited")].filter((each) => each !== undefined);
  const held = telling.filter(({ type, status: is, reason = "" }) =>
    type === "ScalingLimited" ? is === "True" : is === "False" || reason.endsWith("Stabilized"),
  );
  for (const { type, reason, message = "" } of held)
    because.push({ text: message, evidence: `condition ${type}, ${reason}` });
  if (held.length === 0) {
    const able = of("AbleToScale");
    because.push({
      text: able?.message ?? "nothing holds it back",
      evidence: `condition AbleToScale, ${able?.reason}`,
    });
  }
  const help = held.flatMap(({ reason = "" }) => HELP[reason]?.(hpa) ?? []);
  return { what, cause: held.find(({ status: is }) => is === "False")?.message, because, help: [...new Set(help)] };
}

function reasonOf(
  { title, replicas, ratio = 0, rule, problem }: ExplainedMetric,
  tolerance: Explanation["tolerances"],
): Reason {
  if (problem !== undefined) return { text: `${title}: ${problem}`, evidence: "metrics API" };
  const times = `${Math.round(ratio * 100) / 100} times its target`;
  const percent = (part: number) => `${Math.round(part * 1000) / 10} %`;
  const text = {
    ratio: `${title} is ${times}: ${replicas} replicas`,
    tolerance: `${title} is ${times}, within the tolerance (${percent(tolerance.down)} below, ${percent(tolerance.up)} above): no change`,
    assumed: `${title} is ${times}, but Pods without figures may make up for it: no change`,
    direction: `${title} is ${times}, but with Pods without figures the number would move the other way: no change`,
  }[rule ?? "ratio"];
  return { text, evidence: "computed from status and the metrics API" };
}
