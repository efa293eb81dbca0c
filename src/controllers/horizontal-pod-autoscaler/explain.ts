/**
 * What an autoscaler computes now, metric by metric, for `k8ts why`: the controller's own arithmetic on live figures.
 */
import { type autoscaling, kinds, parseLabelSelector } from "#api";
import type { Clock } from "#base";
import type { Client } from "#client";
import { evaluate, type Reading } from "./evaluate.ts";
import { MetricsClient } from "./metrics-client.ts";
import type { Rule, Tolerances } from "./replicas.ts";
import { AUTOSCALER_DEFAULTS } from "./settings.ts";
import { Targets } from "./target.ts";
import { tolerancesOf } from "./tolerances.ts";

export interface ExplainedMetric {
  readonly title: string;
  /** Undefined: it could not be computed, because of `problem`. */
  readonly replicas?: number | undefined;
  readonly ratio?: number | undefined;
  readonly rule?: Rule | undefined;
  readonly problem?: string | undefined;
}

export interface Explanation {
  readonly metrics: readonly ExplainedMetric[];
  readonly tolerances: Tolerances;
}

/** Without metrics if the target cannot be read. Settings are those of a controller without flags. */
export async function explainAutoscaler(
  hpa: autoscaling.HorizontalPodAutoscaler,
  { client, clock, signal }: { readonly client: Client; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Explanation> {
  const settings = AUTOSCALER_DEFAULTS;
  const tolerances = tolerancesOf(hpa, settings);
  const { namespace = "" } = hpa.metadata;
  const targets = new Targets(client, clock);
  const target = await targets.find(namespace, hpa.spec.scaleTargetRef, signal);
  const { selector = "", replicas: statusReplicas = 0 } = target.ok ? (target.value.scale.status ?? {}) : {};
  if (!target.ok || selector === "") return { metrics: [], tolerances };
  const metrics = new MetricsClient({ client, targets });
  const { items: pods } = await client.of(kinds.Pod).in(namespace).list({ labelSelector: selector, signal });
  const specReplicas = target.value.scale.spec?.replicas ?? 0;
  const now = clock.now();
  const situation = { hpa, specReplicas, statusReplicas, pods, tolerances, settings, now };
  const explained = (hpa.spec.metrics ?? []).map(async (metric): Promise<ExplainedMetric> => {
    const reading = await metrics.read(metric, namespace, parseLabelSelector(selector), signal);
    const evaluated = evaluate(metric, reading, situation);
    if (!evaluated.ok) return { title: metric.type, problem: evaluated.message };
    const { replicas, ratio, rule } = evaluated.proposal;
    const figures = figuresOf(evaluated.status, metric);
    return { title: `${evaluated.name}, ${figures}${measured(reading, pods.length)},`, replicas, ratio, rule };
  });
  return { metrics: await Promise.all(explained), tolerances };
}

function figuresOf(status: autoscaling.MetricStatus, metric: autoscaling.MetricSpec): string {
  const of = <T>(each: Readonly<Record<string, unknown>>) =>
    Object.values(each).find((value): value is T => typeof value === "object");
  const { current } = of<{ current: autoscaling.MetricValueStatus }>({ ...status }) ?? {};
  const { target } = of<{ target: autoscaling.MetricTarget }>({ ...metric }) ?? {};
  return `${amount(current)} with a target of ${amount(target)}`;
}

function amount(value: autoscaling.MetricValueStatus | undefined): string {
  const { averageUtilization, averageValue, value: whole } = value ?? {};
  const parts = [
    ...(averageUtilization === undefined ? [] : [`${averageUtilization}%`]),
    ...(averageValue === undefined ? [] : [`${averageValue} on average`]),
    ...(whole === undefined ? [] : [whole]),
  ];
  return parts.join(", ");
}

function measured(reading: Reading, pods: number): string {
  return reading.of === "pods" && reading.samples.ok ? ` (${reading.samples.value.size} of ${pods} Pods measured)` : "";
}
