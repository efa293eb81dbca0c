/** Discovery and OpenAPI of metrics.k8s.io/v1beta1. */
import type { JsonObject } from "#api";
import { API_VERSION, GROUP } from "./objects.ts";

const VERSION = "v1beta1";
const BASE = `/apis/${API_VERSION}`;
const TYPES = "io.k8s.metrics.pkg.apis.metrics.v1beta1";
const VERBS = ["get", "list"];

const groupVersion = { groupVersion: API_VERSION, version: VERSION };
const group = { name: GROUP, versions: [groupVersion], preferredVersion: groupVersion };

/** By path. */
export function documents(): ReadonlyMap<string, JsonObject> {
  return new Map<string, JsonObject>([
    ["/apis", { kind: "APIGroupList", apiVersion: "v1", groups: [group] }],
    [`/apis/${GROUP}`, { kind: "APIGroup", apiVersion: "v1", ...group }],
    [
      BASE,
      {
        kind: "APIResourceList",
        apiVersion: "v1",
        groupVersion: API_VERSION,
        resources: [
          { name: "nodes", singularName: "", namespaced: false, kind: "NodeMetrics", verbs: VERBS },
          { name: "pods", singularName: "", namespaced: true, kind: "PodMetrics", verbs: VERBS },
        ],
      },
    ],
    ["/openapi/v2", openApiV2()],
    ["/openapi/v3", { paths: { [BASE.slice(1)]: { serverRelativeURL: `/openapi/v3${BASE}` } } }],
    [`/openapi/v3${BASE}`, openApiV3()],
  ]);
}

const info = { title: "metrics", version: "v1beta1" };

function openApiV2(): JsonObject {
  return {
    swagger: "2.0",
    info,
    paths: paths((schema) => ({ description: "OK", schema: { $ref: `#/definitions/${schema}` } }), "v2"),
    definitions: schemas("#/definitions/"),
  };
}

function openApiV3(): JsonObject {
  const content = (schema: string) => ({
    description: "OK",
    content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } },
  });
  return {
    openapi: "3.0.0",
    info,
    paths: paths(content, "v3"),
    components: { schemas: schemas("#/components/schemas/") },
  };
}

type Form = "v2" | "v3";

function paths(answer: (schema: string) => JsonObject, form: Form): JsonObject {
  const get = (id: string, kind: string, action: "get" | "list", schema: string, parameters: JsonObject[]) => ({
    get: {
      description: action === "get" ? `read the metrics of one object of ${kind}` : `list objects of kind ${kind}`,
      operationId: id,
      tags: ["metrics_v1beta1"],
      ...(form === "v2" && { produces: ["application/json"] }),
      responses: { "200": answer(`${TYPES}.${schema}`) },
      "x-kubernetes-action": action,
      "x-kubernetes-group-version-kind": { group: GROUP, version: VERSION, kind },
    },
    ...(parameters.length > 0 && { parameters }),
  });
  const inPath = (name: string): JsonObject => ({
    name,
    in: "path",
    required: true,
    description: `${name} of the object`,
    ...(form === "v2" ? { type: "string" } : { schema: { type: "string" } }),
  });
  const [name, namespace] = [inPath("name"), inPath("namespace")];
  const prefix = "MetricsV1beta1";
  return {
    [`${BASE}/nodes`]: get(`list${prefix}NodeMetrics`, "NodeMetrics", "list", "NodeMetricsList", []),
    [`${BASE}/nodes/{name}`]: get(`read${prefix}NodeMetrics`, "NodeMetrics", "get", "NodeMetrics", [name]),
    [`${BASE}/pods`]: get(`list${prefix}PodMetricsForAllNamespaces`, "PodMetrics", "list", "PodMetricsList", []),
    [`${BASE}/namespaces/{namespace}/pods`]: get(
      `list${prefix}NamespacedPodMetrics`,
      "PodMetrics",
      "list",
      "PodMetricsList",
      [namespace],
    ),
    [`${BASE}/namespaces/{namespace}/pods/{name}`]: get(
      `read${prefix}NamespacedPodMetrics`,
      "PodMetrics",
      "get",
      "PodMetrics",
      [name, namespace],
    ),
  };
}

function schemas(prefix: string): JsonObject {
  const text = (description: string): JsonObject => ({ type: "string", description });
  const common = {
    apiVersion: text("The version of the schema."),
    kind: text("The kind of the object."),
  };
  const usage = {
    type: "object",
    description: "Amounts by resource: cpu and memory.",
    additionalProperties: { type: "string" },
  };
  const measured = {
    ...common,
    metadata: { type: "object", description: "Name, namespace and labels of what was measured." },
    timestamp: { type: "string", format: "date-time", description: "The end of the window." },
    window: text("The time over which CPU was averaged."),
  };
  const of = (kind: string, properties: JsonObject, required: string[], isTop = true): [string, JsonObject] => [
    `${TYPES}.${kind}`,
    {
      type: "object",
      required,
      properties,
      ...(isTop && { "x-kubernetes-group-version-kind": [{ group: GROUP, version: VERSION, kind }] }),
    },
  ];
  const items = (kind: string): JsonObject => ({ type: "array", items: { $ref: `${prefix}${TYPES}.${kind}` } });
  const list = { ...common, metadata: { type: "object", description: "Of the list." } };
  return Object.fromEntries([
    of("ContainerMetrics", { name: text("The container."), usage }, ["name", "usage"], false),
    of("NodeMetrics", { ...measured, usage }, ["timestamp", "window", "usage"]),
    of("NodeMetricsList", { ...list, items: items("NodeMetrics") }, ["items"]),
    of("PodMetrics", { ...measured, containers: items("ContainerMetrics") }, ["timestamp", "window", "containers"]),
    of("PodMetricsList", { ...list, items: items("PodMetrics") }, ["items"]),
  ]);
}
