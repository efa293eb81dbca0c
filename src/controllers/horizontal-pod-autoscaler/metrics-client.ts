/**
 * Reads the metrics of an autoscaler: of Pods from metrics.k8s.io, others from custom.metrics.k8s.io and
 * external.metrics.k8s.io, all through the API server.
 */
import {
  type autoscaling,
  durationMs,
  isStatusError,
  type KubeObject,
  type LabelMatcher,
  matcherOfSelector,
  parseQuantity,
  parseTime,
  scaledValue,
  toMs,
} from "#api";
import { type Client, namespaced } from "#client";
import type { Reading } from "./evaluate.ts";
import type { Computed, PodSample } from "./samples.ts";
import type { Targets } from "./target.ts";

const MILLI = -3;
const CUSTOM = "custom.metrics.k8s.io";
const EXTERNAL = "external.metrics.k8s.io";
const CUSTOM_VERSIONS = ["v1beta2", "v1beta1"];
/** Of custom metrics that do not say. */
const DEFAULT_WINDOW_MS = 60_000;

interface PodMetrics extends KubeObject {
  readonly timestamp?: string;
  readonly window?: string;
  readonly containers?: readonly { readonly name: string; readonly usage?: Readonly<Record<string, string>> }[];
}

const PodMetrics = namespaced<PodMetrics>("metrics.k8s.io/v1beta1", "PodMetrics", "pods");

interface MetricValue {
  readonly describedObject?: { readonly name?: string };
  readonly timestamp?: string;
  readonly windowSeconds?: number;
  readonly value?: string;
}

export interface MetricsClientOptions {
  readonly client: Client;
  readonly targets: Targets;
}

export class MetricsClient {
  readonly #client: Client;
  readonly #targets: Targets;

  constructor({ client, targets }: MetricsClientOptions) {
    this.#client = client;
    this.#targets = targets;
  }

  async read(
    { type, resource, containerResource, pods, object, external }: autoscaling.MetricSpec,
    namespace: string,
    selector: LabelMatcher,
    signal: AbortSignal,
  ): Promise<Reading> {
    if (type === "Resource" && resource !== undefined)
      return { of: "pods", samples: await this.#resource(resource.name, "", namespace, selector, signal) };
    if (type === "ContainerResource" && containerResource !== undefined) {
      const { name, container } = containerResource;
      return { of: "pods", samples: await this.#resource(name, container, namespace, selector, signal) };
    }
    if (type === "Pods" && pods !== undefined)
      return { of: "pods", samples: await this.#pods(pods.metric, namespace, selector, signal) };
    if (type === "Object" && object !== undefined)
      return { of: "other", values: await this.#object(object, namespace, signal) };
    if (type === "External" && external !== undefined)
      return { of: "other", values: await this.#external(external.metric, namespace, signal) };
    return { of: "other", values: { ok: true, value: [] } };
  }

  async #resource(
    resource: string,
    container: string,
    namespace: string,
    selector: LabelMatcher,
    signal: AbortSignal,
  ): Promise<Computed<ReadonlyMap<string, PodSample>>> {
    const place = this.#client.of<PodMetrics>(PodMetrics).in(namespace);
    const listed = await attempt("resource metrics API", "get pods.metrics.k8s.io", signal, () =>
      place.list({ labelSelector: selector.toString(), signal }),
    );
    if (!listed.ok) return listed;
    const { items } = listed.value;
    if (items.length === 0) return { ok: false, error: "no metrics returned from resource metrics API" };
    const samples = items.flatMap(({ metadata, timestamp, window, containers }) => {
      const milli = usageOf(containers, resource, container);
      if (milli === undefined) return [];
      const windowMs = window === undefined ? 0 : durationMs(window);
      return [[metadata.name ?? "", { milli, atMs: timeMs(timestamp), windowMs }] as const];
    });
    return { ok: true, value: new Map(samples) };
  }

  async #pods(
    { name, selector: own }: autoscaling.MetricIdentifier,
    namespace: string,
    selector: LabelMatcher,
    signal: AbortSignal,
  ): Promise<Computed<ReadonlyMap<string, PodSample>>> {
    const values = await this.#values("custom metrics API", signal, async () => {
      const query = queryOf({ labelSelector: selector.toString(), metricLabelSelector: labelsOf(own) });
      return `${await this.#custom(signal)}/namespaces/${namespace}/pods/*/${encodeURIComponent(name)}${query}`;
    });
    if (!values.ok) return values;
    const samples = values.value.map(({ describedObject, timestamp, windowSeconds, value }) => {
      const windowMs = windowSeconds === undefined ? DEFAULT_WINDOW_MS : windowSeconds * 1000;
      return [describedObject?.name ?? "", { milli: milliOf(value), atMs: timeMs(timestamp), windowMs }] as const;
    });
    return { ok: true, value: new Map(samples) };
  }

  async #object(
    { describedObject, metric }: autoscaling.ObjectMetricSource,
    namespace: string,
    signal: AbortSignal,
  ): Promise<Computed<readonly bigint[]>> {
    const { apiVersion = "", kind, name } = describedObject;
    const values = await this.#values("custom metrics API", signal, async () => {
      const query = queryOf({ metricLabelSelector: labelsOf(metric.selector) });
      const base = `${await this.#custom(signal)}/namespaces/${namespace}`;
      const called = encodeURIComponent(metric.name);
      // An autoscaler may not look beyond its namespace, whatever name it gives.
      if (kind === "Namespace" && !apiVersion.includes("/")) return `${base}/metrics/${called}${query}`;
      const resource = await this.#targets.resourceOf(apiVersion, kind, signal);
      if (!resource.ok) throw new Error(resource.error);
      const { plural, group } = resource.value;
      return `${base}/${group === "" ? plural : `${plural}.${group}`}/${encodeURIComponent(name)}/${called}${query}`;
    });
    if (!values.ok) return values;
    const [first, ...others] = values.value;
    if (first === undefined || others.length > 0)
      return {
        ok: false,
        error: `unable to fetch metrics from custom metrics API: the custom metrics API server returned ${values.value.length} results when we asked for exactly one`,
      };
    return { ok: true, value: [milliOf(first.value)] };
  }

  async #external(
    { name, selector }: autoscaling.MetricIdentifier,
    namespace: string,
    signal: AbortSignal,
  ): Promise<Computed<readonly bigint[]>> {
    const values = await this.#values("external metrics API", signal, async () => {
      const query = queryOf({ labelSelector: labelsOf(selector) });
      return `/apis/${EXTERNAL}/v1beta1/namespaces/${namespace}/${encodeURIComponent(name)}${query}`;
    });
    return values.ok ? { ok: true, value: values.value.map(({ value }) => milliOf(value)) } : values;
  }

  async #values(
    api: string,
    signal: AbortSignal,
    path: () => Promise<string>,
  ): Promise<Computed<readonly MetricValue[]>> {
    const listed = await attempt(api, "get", signal, async () => {
      const text = await this.#client.text(await path(), { signal, accept: "application/json" });
      return (JSON.parse(text) as { items?: readonly MetricValue[] }).items ?? [];
    });
    if (listed.ok && listed.value.length === 0) return { ok: false, error: `no metrics returned from ${api}` };
    return listed;
  }

  /** The newest version that is served. */
  async #custom(signal: AbortSignal): Promise<string> {
    const text = await this.#client.text(`/apis/${CUSTOM}`, { signal, accept: "application/json" });
    const { versions = [] } = JSON.parse(text) as { versions?: readonly { version?: string }[] };
    const served = CUSTOM_VERSIONS.find((version) => versions.some((each) => each.version === version));
    return `/apis/${CUSTOM}/${served ?? "v1beta1"}`;
  }
}

/** Undefined: a container has no such figure. */
function usageOf(containers: PodMetrics["containers"] = [], resource: string, only: string): bigint | undefined {
  const counted = only === "" ? containers : containers.filter(({ name }) => name === only);
  if (counted.length === 0) return undefined;
  let sum = 0n;
  for (const { usage } of counted) {
    const amount = usage?.[resource];
    if (amount === undefined) return undefined;
    sum += milliOf(amount);
  }
  return sum;
}

async function attempt<T>(
  api: string,
  action: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<Computed<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    signal.throwIfAborted();
    const message = error instanceof Error ? error.message : String(error);
    // As client-go says it where the API is not served at all.
    const isAbsent = isStatusError(error, "NotFound") && message === "the server could not find the requested resource";
    return { ok: false, error: `unable to fetch metrics from ${api}: ${message}${isAbsent ? ` (${action})` : ""}` };
  }
}

function queryOf(parameters: Readonly<Record<string, string>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== "");
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

function labelsOf(selector: autoscaling.MetricIdentifier["selector"]): string {
  return selector === undefined ? "" : matcherOfSelector(selector).toString();
}

function milliOf(quantity: string | undefined): bigint {
  return scaledValue(parseQuantity(quantity ?? "0"), MILLI);
}

function timeMs(time: string | undefined): number {
  return time === undefined ? 0 : toMs(parseTime(time));
}
