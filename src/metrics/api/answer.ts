/**
 * Answers requests for metrics.k8s.io.
 *
 *     path ──► document, or resource ──► the objects that exist and were measured ──► JSON, Table or metadata
 *
 * 1. What was measured but no longer exists is not shown; what exists but was not measured is left out of lists.
 * 2. It can be read only, and not watched.
 */
import {
  badRequest,
  FieldSelectorError,
  type JsonObject,
  type KubeObject,
  type LabelMatcher,
  LabelSelectorError,
  methodNotSupported,
  notAcceptable,
  notFound,
  parseFieldSelector,
  parseLabelSelector,
  StatusError,
  serverResponse,
  toStatus,
  writeJson,
} from "#api";
import type { PointStorage } from "../points/storage.ts";
import { documents } from "./documents.ts";
import { API_VERSION, GROUP, type NodeMetrics, nodeMetrics, type PodMetrics, podMetrics } from "./objects.ts";
import { type Included, partialOf, tableOf } from "./table.ts";

export interface MetricsRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly accept?: string | undefined;
}

export interface MetricsAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What exists, by caches. */
export interface Existing {
  nodes(): readonly KubeObject[];
  pods(namespace: string | undefined): readonly KubeObject[];
}

export interface MetricsApiOptions {
  readonly storage: PointStorage;
  readonly existing: Existing;
  readonly now: () => number;
}

type Item = NodeMetrics | PodMetrics;
const ACCEPTED = ["application/json"];
const FIELDS = ["metadata.name", "metadata.namespace"];

export function metricsApi(options: MetricsApiOptions): (request: MetricsRequest) => MetricsAnswer {
  const known = documents();
  return (request) => {
    try {
      return answer(request, known, options);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return json(error.code, toStatus(error));
    }
  };
}

function answer(
  { method, path: target, accept = "" }: MetricsRequest,
  known: ReadonlyMap<string, JsonObject>,
  options: MetricsApiOptions,
): MetricsAnswer {
  const [path = "", queryText = ""] = target.split("?", 2);
  const document = known.get(path.length > 1 ? path.replace(/\/$/, "") : path);
  const asked = document === undefined ? resourceIn(path) : undefined;
  if (document === undefined && asked === undefined) throw serverResponse(404);
  if (method !== "GET" && method !== "HEAD")
    throw methodNotSupported({ group: GROUP, resource: asked?.resource ?? "" }, method.toLowerCase());
  if (document !== undefined) return json(200, document);
  if (asked === undefined) throw serverResponse(404);
  const query = new URLSearchParams(queryText);
  const form = formOf(accept);
  const included = (query.get("includeObject") ?? "Metadata") as Included;
  if (asked.name !== undefined) return one(asked, asked.name, form, included, options);
  if (["true", "1"].includes(query.get("watch") ?? ""))
    throw methodNotSupported({ group: GROUP, resource: asked.resource }, "watch");
  const items = select(asked, query, options);
  const metadata = {};
  if (form === "Table") return json(200, tableOf(items, included, metadata));
  if (form === "Partial")
    return json(200, {
      kind: "PartialObjectMetadataList",
      apiVersion: "meta.k8s.io/v1",
      metadata,
      items: items.map(partialOf),
    });
  const kind = asked.resource === "nodes" ? "NodeMetricsList" : "PodMetricsList";
  const plain = items.map(({ kind: _, apiVersion: __, ...item }) => item);
  return json(200, { kind, apiVersion: API_VERSION, metadata, items: plain as unknown as JsonObject[] });
}

interface Asked {
  readonly resource: "nodes" | "pods";
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

function resourceIn(path: string): Asked | undefined {
  const match = /^\/apis\/metrics\.k8s\.io\/v1beta1\/(?:(nodes|pods)|namespaces\/([^/]+)\/(pods))(?:\/([^/]+))?$/.exec(
    path,
  );
  if (match === null) return undefined;
  const [, wide, namespace, inNamespace, name] = match;
  // A Pod has a namespace.
  if (wide === "pods" && name !== undefined) return undefined;
  const resource = (wide ?? inNamespace) === "nodes" ? "nodes" : "pods";
  return { resource, namespace: decoded(namespace), name: decoded(name) };
}

function decoded(part: string | undefined): string | undefined {
  if (part === undefined) return undefined;
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // not percent-encoded
  }
}

function one(asked: Asked, name: string, form: Form, included: Included, options: MetricsApiOptions): MetricsAnswer {
  const { resource, namespace } = asked;
  const found = existing(asked, options).find(({ metadata }) => metadata.name === name);
  const item = found && itemOf(resource, found, options);
  if (item === undefined) {
    const [called, title] = resource === "nodes" ? ["nodemetrics", name] : ["podmetrics", `${namespace}/${name}`];
    throw notFound({ group: GROUP, resource: called }, title);
  }
  if (form === "Table") return json(200, tableOf([item], included));
  return json(200, form === "Partial" ? partialOf(item) : (item as unknown as JsonObject));
}

function select(asked: Asked, query: URLSearchParams, options: MetricsApiOptions): readonly Item[] {
  const { labels, fields } = selectors(query);
  return existing(asked, options)
    .filter(({ metadata }) => labels.matches(metadata.labels))
    .filter(({ metadata: { name = "", namespace = "" } }) =>
      fields.matches((field) => (field === "metadata.name" ? name : namespace)),
    )
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .flatMap((object) => itemOf(asked.resource, object, options) ?? []);
}

function selectors(query: URLSearchParams) {
  try {
    const labels: LabelMatcher = parseLabelSelector(query.get("labelSelector") ?? "");
    const fields = parseFieldSelector(query.get("fieldSelector") ?? "");
    const unknown = fields.terms.find(({ field }) => !FIELDS.includes(field));
    if (unknown !== undefined)
      throw badRequest(
        `${JSON.stringify(unknown.field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
      );
    return { labels, fields };
  } catch (error) {
    if (error instanceof LabelSelectorError || error instanceof FieldSelectorError)
      throw badRequest(error.message, error);
    throw error;
  }
}

function existing({ resource, namespace }: Asked, { existing: there }: MetricsApiOptions): readonly KubeObject[] {
  return resource === "nodes" ? there.nodes() : there.pods(namespace);
}

function itemOf(resource: Asked["resource"], { metadata }: KubeObject, options: MetricsApiOptions): Item | undefined {
  const { storage, now } = options;
  const { name = "", namespace = "", labels } = metadata;
  if (resource === "nodes") {
    const usage = storage.node(name);
    return usage && nodeMetrics(name, labels, usage, now());
  }
  const usage = storage.pod(namespace, name);
  return usage && podMetrics({ name, namespace, labels }, usage, now());
}

function keyOf({ metadata: { name = "", namespace = "" } }: KubeObject): string {
  return `${namespace}/${name}`;
}

type Form = "Object" | "Table" | "Partial";

/** The first form that is known. */
function formOf(accept: string): Form {
  if (accept === "") return "Object";
  for (const range of accept.split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    if (!["application/json", "application/*", "*/*"].includes(type)) continue;
    const as = parameters.find((part) => part.startsWith("as="))?.slice("as=".length);
    if (as === undefined || as === "APIGroupDiscoveryList") return "Object";
    if (as === "Table") return "Table";
    if (as === "PartialObjectMetadata" || as === "PartialObjectMetadataList") return "Partial";
  }
  throw notAcceptable(ACCEPTED);
}

function json(status: number, value: JsonObject): MetricsAnswer {
  return { status, headers: { "content-type": "application/json" }, body: Buffer.from(writeJson(value)) };
}
