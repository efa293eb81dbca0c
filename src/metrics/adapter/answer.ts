/**
 * Answers requests for custom.metrics.k8s.io and external.metrics.k8s.io.
 *
 *     path ──► document, or question ──► [objects that the selector names] ──► sources in turn ──► list of values
 *
 * 1. Metrics can be read only. Why a source failed is logged and not told: queries are nobody's business.
 * 2. Objects that do not exist have no values, whatever a source has of them.
 */
import {
  badRequest,
  formatQuantity,
  formatTime,
  instantOf,
  internalError,
  type JsonObject,
  type KubeObject,
  type LabelMatcher,
  LabelSelectorError,
  methodNotSupported,
  parseLabelSelector,
  quantityOf,
  StatusError,
  serverResponse,
  toStatus,
  writeJson,
} from "#api";
import { type Logger, requestTarget, table } from "#base";
import type { Client, DiscoveredResource } from "#client";
import type { MetricsAnswer, MetricsRequest } from "../api/answer.ts";
import { CUSTOM, documentAt, EXTERNAL } from "./documents.ts";
import { type Asked, askedBy } from "./question.ts";
import type { Resources } from "./resources.ts";
import { type MetricSource, titleOf } from "./source.ts";

export interface AdapterApiOptions {
  readonly sources: readonly MetricSource[];
  readonly resources: Resources;
  readonly client: Client;
  readonly now: () => number;
  readonly log: Logger;
  /** Ends requests under way. */
  readonly signal: AbortSignal;
}

type Answering = (request: MetricsRequest) => Promise<MetricsAnswer>;

export function adapterApi(options: AdapterApiOptions): Answering {
  return async (request) => {
    try {
      return json(200, await answer(request, options));
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return json(error.code, toStatus(error));
    }
  };
}

async function answer({ method, path }: MetricsRequest, options: AdapterApiOptions): Promise<JsonObject> {
  const { path: pathname, query: searchParams } = requestTarget(path);
  const { sources } = options;
  const isRead = method === "GET" || method === "HEAD";
  const document = documentAt(pathname, {
    custom: sources.flatMap((source) => source.customMetrics()),
    external: sources.flatMap((source) => source.externalMetrics()),
  });
  const asked = document === undefined ? askedBy(pathname) : undefined;
  if (!isRead && (document ?? asked) !== undefined)
    throw methodNotSupported(
      { group: asked?.of === "external" ? EXTERNAL : CUSTOM, resource: "" },
      method.toLowerCase(),
    );
  if (document !== undefined) return document;
  if (asked === undefined) throw serverResponse(404);
  return asked.of === "external"
    ? external(asked, selectorIn(searchParams, "labelSelector"), options)
    : custom(asked, searchParams, options);
}

async function custom(
  asked: Extract<Asked, { of: "objects" }>,
  query: URLSearchParams,
  options: AdapterApiOptions,
): Promise<JsonObject> {
  const { metric, namespace, name, version } = asked;
  const { sources, resources, signal, now } = options;
  const resource = await resources.find(asked.resource, signal);
  const title = titleOf(asked.resource);
  const missing = () => unknownMetric(metric, name === undefined ? title : `${title} ${name}`);
  if (resource === undefined) throw missing();
  const names = name === undefined ? await namesOf(resource, namespace, query, options) : [name];
  const selector = selectorIn(query, "metricLabelSelector");
  const question = { group: resource.group, resource: resource.plural, metric, namespace, names, selector };
  const values = await firstOf(sources, metric, options, (source) => source.custom(question, signal));
  if (values === undefined || (name !== undefined && !values.has(name))) throw missing();
  const time = formatTime(instantOf(now()));
  const chosen = selectorOf(selector);
  const items = names.flatMap((each) => {
    const milli = values.get(each);
    if (milli === undefined) return [];
    const about = { kind: resource.kind, name: each, apiVersion: `${resource.apiVersion}` };
    return [
      {
        describedObject: namespace === "" ? about : { ...about, namespace },
        ...(version === "v1beta1"
          ? { metricName: metric, selector: chosen }
          : { metric: { name: metric, selector: chosen } }),
        timestamp: time,
        value: quantityText(milli),
      },
    ];
  });
  return { kind: "MetricValueList", apiVersion: `${CUSTOM}/${version}`, metadata: {}, items };
}

async function external(
  { metric, namespace }: Extract<Asked, { of: "external" }>,
  selector: LabelMatcher,
  options: AdapterApiOptions,
): Promise<JsonObject> {
  const { sources, signal } = options;
  const samples = await firstOf(sources, metric, options, (source) =>
    source.external({ metric, namespace, selector }, signal),
  );
  if (samples === undefined) throw unknownMetric(metric, "");
  const items = samples.map(({ milli, atMs, labels }) => ({
    metricName: metric,
    metricLabels: { ...labels },
    timestamp: formatTime(instantOf(atMs)),
    value: quantityText(milli),
  }));
  return { kind: "ExternalMetricValueList", apiVersion: `${EXTERNAL}/v1beta1`, metadata: {}, items };
}

/** Of the first source that has the metric. */
async function firstOf<T>(
  sources: readonly MetricSource[],
  metric: string,
  { log, signal }: AdapterApiOptions,
  ask: (source: MetricSource) => Promise<T | undefined>,
): Promise<T | undefined> {
  for (const source of sources) {
    try {
      const found = await ask(source);
      if (found !== undefined) return found;
    } catch (error) {
      signal.throwIfAborted();
      log.error("unable to fetch metrics", { metric, error });
      throw internalError("unable to fetch metrics");
    }
  }
  return undefined;
}

async function namesOf(
  resource: DiscoveredResource,
  namespace: string,
  query: URLSearchParams,
  { client, log, signal }: AdapterApiOptions,
): Promise<readonly string[]> {
  const labelSelector = selectorIn(query, "labelSelector").toString();
  const objects = client.metadataOf(resource);
  try {
    const { items } = await (namespace === "" ? objects : objects.in(namespace)).list({ labelSelector, signal });
    return items.map(({ metadata }: KubeObject) => metadata.name ?? "");
  } catch (error) {
    signal.throwIfAborted();
    log.error("unable to list matching resource names", {
      resource: titleOf({ group: resource.group, resource: resource.plural }),
      error,
    });
    throw internalError("unable to list matching resources");
  }
}

function selectorIn(query: URLSearchParams, field: string): LabelMatcher {
  try {
    return parseLabelSelector(query.get(field) ?? "");
  } catch (error) {
    if (error instanceof LabelSelectorError) throw badRequest(error.message, error);
    throw error;
  }
}

/** As a LabelSelector; null: no labels were asked for. */
function selectorOf({ requirements }: LabelMatcher): JsonObject | null {
  if (requirements.length === 0) return null;
  const operators: Readonly<Record<string, string>> = table({
    "!=": "NotIn",
    notin: "NotIn",
    exists: "Exists",
    "!": "DoesNotExist",
  });
  return {
    matchExpressions: requirements.map(({ key, operator, values }) => ({
      key,
      operator: operators[operator] ?? "In",
      ...(values.length > 0 && { values: [...values] }),
    })),
  };
}

function unknownMetric(metric: string, of: string): StatusError {
  const about = of === "" ? "" : ` for ${of}`;
  return new StatusError("NotFound", `the server could not find the metric ${metric}${about}`);
}

function quantityText(milli: bigint): string {
  return formatQuantity(quantityOf(milli, "DecimalSI", -3));
}

function json(status: number, value: JsonObject): MetricsAnswer {
  return { status, headers: { "content-type": "application/json" }, body: Buffer.from(writeJson(value)) };
}
