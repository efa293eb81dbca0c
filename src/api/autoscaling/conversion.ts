/**
 * Conversion of HorizontalPodAutoscalers between autoscaling/v1 and autoscaling/v2, the stored version.
 *
 * 1. v1 has fields only for CPU utilization. All other metrics, behavior, current metrics and conditions are kept in
 *    annotations, which exist in v1 only: the conversion to v2 reads and removes them.
 * 2. An invalid annotation is removed as well.
 */
import { goJson } from "../machinery/json/go-text.ts";
import { isObject, type Json, type JsonObject } from "../machinery/json/json.ts";
import { JsonSyntaxError, parseJson } from "../machinery/json/json-text.ts";
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type {
  HorizontalPodAutoscaler as HpaV1,
  MetricSpec as MetricSpecV1,
  MetricStatus as MetricStatusV1,
} from "../types/autoscaling-v1.ts";
import type {
  HorizontalPodAutoscalerCondition,
  HorizontalPodAutoscaler as HpaV2,
  MetricSpec,
  MetricStatus,
} from "../types/autoscaling-v2.ts";
import { behaviorFromText, behaviorText } from "./behavior-text.ts";
import { metricFromV1, metricStatusFromV1, metricStatusToV1, metricToV1 } from "./metric-conversion.ts";

export const metricsAnnotation = "autoscaling.alpha.kubernetes.io/metrics";
const currentMetricsAnnotation = "autoscaling.alpha.kubernetes.io/current-metrics";
const conditionsAnnotation = "autoscaling.alpha.kubernetes.io/conditions";
const behaviorAnnotation = "autoscaling.alpha.kubernetes.io/behavior";
const ownAnnotations = [metricsAnnotation, behaviorAnnotation, currentMetricsAnnotation, conditionsAnnotation];

export function fromV1(hpa: HpaV1): HpaV2 {
  const { annotations = {} } = hpa.metadata;
  const { targetCPUUtilizationPercentage: share, ...spec } = hpa.spec;
  const { currentCPUUtilizationPercentage: currentShare, ...status } = hpa.status ?? {
    currentReplicas: 0,
    desiredReplicas: 0,
  };
  const listed = itemsOf<MetricSpecV1>(annotations[metricsAnnotation]).map(metricFromV1);
  const metrics = share === undefined ? listed : [...listed, cpuMetric(share)];
  const behavior = behaviorFromText(annotations[behaviorAnnotation]);
  const current = itemsOf<MetricStatusV1>(annotations[currentMetricsAnnotation]).map(metricStatusFromV1);
  const currentMetrics = current.length === 0 && currentShare !== undefined ? [cpuStatus(currentShare)] : current;
  const conditions = itemsOf<HorizontalPodAutoscalerCondition>(annotations[conditionsAnnotation]);
  return {
    kind: "HorizontalPodAutoscaler",
    apiVersion: "autoscaling/v2",
    metadata: withAnnotations(hpa.metadata, {}),
    spec: {
      ...spec,
      metrics: metrics.length === 0 ? [cpuMetric(defaultCpuUtilization)] : metrics,
      ...(behavior === undefined ? {} : { behavior }),
    },
    status: {
      ...status,
      ...(currentMetrics.length === 0 ? {} : { currentMetrics }),
      ...(conditions.length === 0 ? {} : { conditions }),
    },
  };
}

export function toV1(hpa: HpaV2): HpaV1 {
  const { metrics = [], behavior, ...spec } = hpa.spec;
  const { currentMetrics, conditions, ...status } = hpa.status ?? { desiredReplicas: 0 };
  const share = metrics.find(isCpu)?.resource?.target.averageUtilization;
  const currentShare = (currentMetrics ?? []).find(isCpu)?.resource?.current.averageUtilization;
  const others = metrics.filter((metric) => !isCpu(metric) || metric.resource?.target.averageUtilization === undefined);
  const added: Record<string, string> = {};
  if (others.length > 0) added[metricsAnnotation] = textOf(others.map(metricToV1));
  if (behavior !== undefined) added[behaviorAnnotation] = behaviorText(behavior);
  if ((currentMetrics ?? []).length > 0)
    added[currentMetricsAnnotation] = textOf((currentMetrics ?? []).map(metricStatusToV1));
  if ((conditions ?? []).length > 0) added[conditionsAnnotation] = textOf(conditions ?? []);
  return {
    kind: "HorizontalPodAutoscaler",
    apiVersion: "autoscaling/v1",
    metadata: withAnnotations(hpa.metadata, added),
    spec: { ...spec, ...(share === undefined ? {} : { targetCPUUtilizationPercentage: share }) },
    status: {
      ...status,
      currentReplicas: status.currentReplicas ?? 0,
      ...(currentShare === undefined ? {} : { currentCPUUtilizationPercentage: currentShare }),
    },
  };
}

function cpuMetric(averageUtilization: number): MetricSpec {
  return { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } };
}

function cpuStatus(averageUtilization: number): MetricStatus {
  return { type: "Resource", resource: { name: "cpu", current: { averageUtilization } } };
}

function isCpu(metric: MetricSpec | MetricStatus): boolean {
  return metric.type === "Resource" && metric.resource?.name === "cpu";
}

/** Only annotations that the conversion itself has set. */
function withAnnotations(meta: ObjectMeta, added: Readonly<Record<string, string>>): ObjectMeta {
  const kept = Object.entries(meta.annotations ?? {}).filter(([name]) => !ownAnnotations.includes(name));
  const annotations = Object.fromEntries([...kept, ...Object.entries(added)].sort(([a], [b]) => (a < b ? -1 : 1)));
  const { annotations: _, ...others } = meta;
  return Object.keys(annotations).length === 0 ? others : { ...others, annotations };
}

function textOf(value: readonly object[]): string {
  return goJson(value as unknown as Json);
}

/** A list with an item that is not an object is invalid. */
function itemsOf<T extends object>(text: string | undefined): readonly T[] {
  const value = parsed(text);
  return Array.isArray(value) && value.every(isObject) ? (value as unknown as readonly T[]) : [];
}

function parsed(text: string | undefined): Json | JsonObject | undefined {
  if (text === undefined) return undefined;
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

/** The target CPU utilization, in percent, of an autoscaler without metrics. */
export const defaultCpuUtilization = 80;
