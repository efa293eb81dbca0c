/**
 * One metric of an autoscaler, from what was read to a proposal: pure.
 *
 * 1. Failures are in upstream's words: the event and the condition have one text, the summary of all metrics another.
 */
import { type autoscaling, type core, formatQuantity, goQuote, parseQuantity, quantityOf, scaledValue } from "#api";
import {
  averageReplicas,
  NO_PODS,
  type PodsProposal,
  type Proposal,
  perPodReplicas,
  sumOf,
  type Tolerances,
  utilizationReplicas,
  valueReplicas,
} from "./replicas.ts";
import { requestsOf } from "./requests.ts";
import { type Computed, groupPods, type PodSamples } from "./samples.ts";
import { goSelector } from "./selector-text.ts";
import type { AutoscalerSettings } from "./settings.ts";

const MILLI = -3;

type Hpa = autoscaling.HorizontalPodAutoscaler;
type Target = autoscaling.MetricTarget;

/** What a metrics API had to say about one metric: of Pods, or of something else. */
export type Reading =
  | { readonly of: "pods"; readonly samples: Computed<PodSamples> }
  | { readonly of: "other"; readonly values: Computed<readonly bigint[]> };

export interface Situation {
  readonly hpa: Hpa;
  readonly specReplicas: number;
  readonly statusReplicas: number;
  /** The Pods that the target's selector selects. */
  readonly pods: readonly core.Pod[];
  readonly tolerances: Tolerances;
  readonly settings: AutoscalerSettings;
  readonly now: number;
}

export type Evaluated =
  | {
      readonly ok: true;
      readonly proposal: Proposal;
      /** As in `the HPA was able to successfully calculate a replica count from …`. */
      readonly name: string;
      readonly status: autoscaling.MetricStatus;
    }
  | {
      readonly ok: false;
      /** The reason of the event and of the condition ScalingActive. */
      readonly reason: string;
      readonly message: string;
      /** As part of the summary of all metrics. */
      readonly error: string;
    };

export function evaluate(metric: autoscaling.MetricSpec, reading: Reading, situation: Situation): Evaluated {
  const { resource, containerResource, pods, object, external } = metric;
  switch (metric.type) {
    case "Resource":
      if (resource === undefined) break;
      return evaluateResource({ ...resource, container: "" }, reading, situation, "Resource");
    case "ContainerResource":
      if (containerResource === undefined) break;
      return evaluateResource(containerResource, reading, situation, "ContainerResource");
    case "Pods":
      if (pods === undefined) break;
      return evaluatePods(pods, reading, situation);
    case "Object":
      if (object === undefined) break;
      return evaluateObject(object, reading, situation);
    case "External":
      if (external === undefined) break;
      return evaluateExternal(external, reading, situation);
  }
  const error = `unknown metric source type ${goQuote(metric.type)}`;
  return { ok: false, reason: "InvalidMetricSourceType", message: error, error };
}

interface ResourceSource {
  readonly name: string;
  readonly target: Target;
  readonly container: string;
}

function evaluateResource(
  { name, target, container }: ResourceSource,
  reading: Reading,
  situation: Situation,
  type: "Resource" | "ContainerResource",
): Evaluated {
  const isOne = type === "ContainerResource";
  const failed = (message: string): Evaluated => {
    const error = isOne
      ? `failed to get ${container} container metric value`
      : `failed to get ${name} resource metric value`;
    const reason = isOne ? "FailedGetContainerResourceMetric" : "FailedGetResourceMetric";
    return { ok: false, reason, message, error: `${error}: ${message}` };
  };
  const succeeded = (proposal: PodsProposal, called: string): Evaluated => {
    const { milli, utilization } = proposal;
    const current = {
      averageValue: milliText(milli),
      ...(utilization !== undefined && { averageUtilization: utilization }),
    };
    const status = isOne
      ? { type, containerResource: { name, container, current } }
      : { type, resource: { name, current } };
    return { ok: true, proposal, name: called, status };
  };
  const { averageValue, averageUtilization } = target;
  if (averageValue !== undefined) {
    const proposal = ofResource(reading, situation, name, (figures) => averageReplicas(figures, milliOf(averageValue)));
    if (!proposal.ok) return failed(`failed to get ${name} usage: ${proposal.error}`);
    return succeeded(proposal.value, `${name} resource`);
  }
  if (averageUtilization === undefined)
    return failed(
      "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set",
    );
  const proposal = ofResource(reading, situation, name, (figures) => {
    const requests = requestsOf(situation.pods, name, container, situation.settings.podLevelResources);
    return requests.ok ? utilizationReplicas(figures, requests.value, averageUtilization) : requests;
  });
  if (!proposal.ok) return failed(`failed to get ${name} utilization: ${proposal.error}`);
  return succeeded(proposal.value, `${name} ${isOne ? "container " : ""}resource utilization (percentage of request)`);
}

type Calculate = (figures: Parameters<typeof averageReplicas>[0]) => Computed<PodsProposal>;

function ofResource(reading: Reading, situation: Situation, resource: string, calculate: Calculate) {
  return ofPods(reading, situation, resource, `unable to get metrics for resource ${resource}`, calculate);
}

/** What was read of ended and unready Pods must not hide that nothing is left: hence the check of `replicas.ts`. */
function ofPods(
  reading: Reading,
  { pods, specReplicas, tolerances, settings, now }: Situation,
  resource: string,
  context: string,
  calculate: Calculate,
): Computed<PodsProposal> {
  if (reading.of !== "pods") throw new TypeError("a reading of Pods is needed");
  if (!reading.samples.ok) return { ok: false, error: `${context}: ${reading.samples.error}` };
  if (pods.length === 0) return { ok: false, error: NO_PODS };
  const samples = reading.samples.value;
  const groups = groupPods(pods, samples, resource, settings, now);
  return calculate({ currentReplicas: specReplicas, samples, groups, tolerances });
}

function evaluatePods(
  { metric, target }: autoscaling.PodsMetricSource,
  reading: Reading,
  situation: Situation,
): Evaluated {
  const context = `unable to get metric ${metric.name}`;
  const wanted = milliOf(target.averageValue ?? "0");
  const proposal = ofPods(reading, situation, "", context, (figures) => averageReplicas(figures, wanted));
  if (!proposal.ok) {
    const message = proposal.error;
    return { ok: false, reason: "FailedGetPodsMetric", message, error: `failed to get pods metric value: ${message}` };
  }
  const current = { averageValue: milliText(proposal.value.milli) };
  const status = { type: "Pods", pods: { metric: identifierOf(metric), current } };
  return { ok: true, proposal: proposal.value, name: `pods metric ${metric.name}`, status };
}

function evaluateObject(
  { metric, target, describedObject }: autoscaling.ObjectMetricSource,
  reading: Reading,
  situation: Situation,
): Evaluated {
  const failed = (message: string, error = message): Evaluated => ({
    ok: false,
    reason: "FailedGetObjectMetric",
    message,
    error: `failed to get object metric value: ${error}`,
  });
  const { kind, name } = describedObject;
  const isAverage = target.type === "AverageValue";
  const usage = valuesOf(reading);
  if (!usage.ok) {
    // The order of these words is upstream's.
    const namespace = situation.hpa.metadata.namespace ?? "";
    const message = `unable to get metric ${metric.name}: ${kind} on ${namespace} ${name}/${usage.error}`;
    return failed(message, isAverage ? `failed to get ${metric.name} object metric: ${message}` : message);
  }
  const status = (current: autoscaling.MetricValueStatus): autoscaling.MetricStatus => ({
    type: "Object",
    object: { describedObject, metric: identifierOf(metric), current },
  });
  const other = spread(sumOf(usage.value), target, situation);
  if (other === undefined)
    return failed("invalid object metric source: neither a value target nor an average value target was set");
  if (!other.ok) return failed(other.error);
  const called = isAverage ? externalName(metric) : `${kind} metric ${metric.name}`;
  return { ok: true, proposal: other.value.proposal, name: called, status: status(other.value.current) };
}

function evaluateExternal(
  { metric, target }: autoscaling.ExternalMetricSource,
  reading: Reading,
  situation: Situation,
): Evaluated {
  const { name } = metric;
  const isAverage = target.averageValue !== undefined;
  const failed = (message: string): Evaluated => ({
    ok: false,
    reason: "FailedGetExternalMetric",
    message,
    error: `${isAverage ? `failed to get ${name} external metric` : `failed to get external metric ${name}`}: ${message}`,
  });
  if (!isAverage && target.value === undefined) {
    const message = "invalid external metric source: neither a value target nor an average value target was set";
    return { ok: false, reason: "FailedGetExternalMetric", message, error: message };
  }
  const usage = valuesOf(reading);
  if (!usage.ok) {
    const namespace = situation.hpa.metadata.namespace ?? "";
    return failed(`unable to get external metric ${namespace}/${name}/${goSelector(metric.selector)}: ${usage.error}`);
  }
  const other = spread(sumOf(usage.value), target, situation);
  if (other === undefined || !other.ok) return failed(other?.error ?? "");
  const status = { type: "External", external: { metric: identifierOf(metric), current: other.value.current } };
  return { ok: true, proposal: other.value.proposal, name: externalName(metric), status };
}

interface Spread {
  readonly proposal: Proposal;
  readonly current: autoscaling.MetricValueStatus;
}

/** Undefined: the target has no value. */
function spread(
  usage: bigint,
  { value, averageValue }: Target,
  { specReplicas, statusReplicas, tolerances, pods }: Situation,
): Computed<Spread> | undefined {
  if (averageValue !== undefined) {
    const proposal = perPodReplicas(statusReplicas, usage, milliOf(averageValue), tolerances);
    return { ok: true, value: { proposal, current: { averageValue: milliText(proposal.milli) } } };
  }
  if (value === undefined) return undefined;
  const proposal = valueReplicas(specReplicas, usage, milliOf(value), tolerances, pods);
  return proposal.ok
    ? { ok: true, value: { proposal: proposal.value, current: { value: milliText(usage) } } }
    : proposal;
}

function valuesOf(reading: Reading): Computed<readonly bigint[]> {
  if (reading.of !== "other") throw new TypeError("a reading of values is needed");
  return reading.values;
}

function externalName({ name, selector }: autoscaling.MetricIdentifier): string {
  return `external metric ${name}(${goSelector(selector)})`;
}

function identifierOf({ name, selector }: autoscaling.MetricIdentifier): autoscaling.MetricIdentifier {
  return { name, ...(selector !== undefined && { selector }) };
}

function milliOf(quantity: string): bigint {
  return scaledValue(parseQuantity(quantity), MILLI);
}

function milliText(milli: bigint): string {
  return formatQuantity(quantityOf(milli, "DecimalSI", MILLI));
}
