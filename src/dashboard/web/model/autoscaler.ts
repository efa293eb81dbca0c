/** Autoscalers: their metrics and targets as figures, and their state in a word. */
import type { autoscaling } from "#api";
import type { Tone } from "./pod.ts";
import { quantity } from "./quantity.ts";

type Hpa = autoscaling.HorizontalPodAutoscaler;

export interface MetricFigures {
  /** `cpu`, `cpu of main`, `hits of Service front`. */
  readonly title: string;
  readonly unit: "%" | "";
  readonly current: number | undefined;
  readonly target: number;
}

export function metricsOf({ spec, status }: Hpa): readonly MetricFigures[] {
  return (spec.metrics ?? []).map((metric, at) => {
    const target = targetOf(metric);
    const current = currentOf(status?.currentMetrics?.[at]);
    const isPercent = target?.averageUtilization !== undefined;
    const figure = (value: autoscaling.MetricTarget | autoscaling.MetricValueStatus | undefined) => {
      if (isPercent) return value?.averageUtilization;
      const amount = target?.averageValue === undefined ? value?.value : value?.averageValue;
      return amount === undefined ? undefined : quantity(amount);
    };
    return {
      title: titleOf(metric),
      unit: isPercent ? "%" : "",
      current: figure(current),
      target: figure(target) ?? 0,
    };
  });
}

function titleOf({ resource, containerResource, pods, object, external }: autoscaling.MetricSpec): string {
  if (resource !== undefined) return resource.name;
  if (containerResource !== undefined) return `${containerResource.name} of ${containerResource.container}`;
  if (pods !== undefined) return `${pods.metric.name} of Pods`;
  if (object !== undefined)
    return `${object.metric.name} of ${object.describedObject.kind} ${object.describedObject.name}`;
  return external?.metric.name ?? "";
}

function targetOf(metric: autoscaling.MetricSpec): autoscaling.MetricTarget | undefined {
  const { resource, containerResource, pods, object, external } = metric;
  return (resource ?? containerResource ?? pods ?? object ?? external)?.target;
}

function currentOf(status: autoscaling.MetricStatus | undefined): autoscaling.MetricValueStatus | undefined {
  const { resource, containerResource, pods, object, external } = status ?? {};
  return (resource ?? containerResource ?? pods ?? object ?? external)?.current;
}

export function figureText(value: number, unit: MetricFigures["unit"]): string {
  if (unit === "%") return `${Math.round(value)}%`;
  if (value !== 0 && Math.abs(value) < 1) return `${Math.round(value * 1000)}m`;
  return value.toLocaleString("en", { maximumFractionDigits: value < 100 ? 1 : 0 });
}

export function metricsText(hpa: Hpa): string {
  return metricsOf(hpa)
    .map(({ title, unit, current, target }) => {
      const now = current === undefined ? "unknown" : figureText(current, unit);
      return `${title}: ${now} / ${figureText(target, unit)}`;
    })
    .join(", ");
}

export function autoscalerState({ status }: Hpa): { readonly word: string; readonly tone: Tone } {
  const of = (type: string) => status?.conditions?.find((each) => each.type === type);
  const [able, active, limited] = ["AbleToScale", "ScalingActive", "ScalingLimited"].map(of);
  if (able === undefined) return { word: "not seen yet", tone: "busy" };
  if (able.status === "False") return { word: able.reason ?? "cannot scale", tone: "bad" };
  if (active?.status === "False")
    return { word: active.reason ?? "not active", tone: active.reason === "ScalingDisabled" ? "quiet" : "bad" };
  if (limited?.status === "True") return { word: limited.reason ?? "limited", tone: "busy" };
  if (able.reason?.endsWith("Stabilized") === true) return { word: "held by its window", tone: "busy" };
  return { word: "as wanted", tone: "good" };
}

interface ScaleEvent {
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly lastTimestamp?: string | null | undefined;
  readonly eventTime?: string | null | undefined;
  readonly metadata: { readonly creationTimestamp?: string | undefined };
}

/** Sizes of the past, from its events: `New size: 4; reason: …`. */
export function pastSizes(events: Iterable<ScaleEvent>): readonly { readonly atMs: number; readonly value: number }[] {
  const sizes: { atMs: number; value: number }[] = [];
  for (const { reason, message = "", lastTimestamp, eventTime, metadata } of events) {
    const size = reason === "SuccessfulRescale" ? /^New size: (\d+)/.exec(message)?.[1] : undefined;
    const time = lastTimestamp ?? eventTime ?? metadata.creationTimestamp;
    if (size !== undefined && time) sizes.push({ atMs: Date.parse(time), value: Number(size) });
  }
  return sizes.sort((a, b) => a.atMs - b.atMs);
}
