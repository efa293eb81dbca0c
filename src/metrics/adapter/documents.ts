/** Discovery and OpenAPI of custom.metrics.k8s.io and external.metrics.k8s.io. */
import type { JsonObject } from "#api";
import { type CustomMetric, titleOf } from "./source.ts";

export const CUSTOM = "custom.metrics.k8s.io";
export const EXTERNAL = "external.metrics.k8s.io";
export const CUSTOM_VERSIONS: readonly string[] = ["v1beta2", "v1beta1"];
const EXTERNAL_VERSIONS = ["v1beta1"];

export interface Listed {
  readonly custom: readonly CustomMetric[];
  readonly external: readonly string[];
}

/** Undefined: the path is no document. */
export function documentAt(path: string, { custom, external }: Listed): JsonObject | undefined {
  const at = path.length > 1 ? path.replace(/\/$/, "") : path;
  if (at === "/apis") return { kind: "APIGroupList", apiVersion: "v1", groups: [groupOf(CUSTOM), groupOf(EXTERNAL)] };
  if (at === "/openapi/v2") return { swagger: "2.0", info: INFO, paths: {} };
  if (at === "/openapi/v3") return { paths: {} };
  const [, group, version] = /^\/apis\/([^/]+)(?:\/([^/]+))?$/.exec(at) ?? [];
  if (group !== CUSTOM && group !== EXTERNAL) return undefined;
  if (version === undefined) return { kind: "APIGroup", apiVersion: "v1", ...groupOf(group) };
  if (!versionsOf(group).includes(version)) return undefined;
  const resources =
    group === CUSTOM
      ? unique(custom, (each) => `${titleOf(each)}/${each.metric}`).map(([name, { namespaced }]) =>
          resource(name, namespaced, "MetricValueList"),
        )
      : unique(external, (name) => name).map(([name]) => resource(name, true, "ExternalMetricValueList"));
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: `${group}/${version}`, resources };
}

const INFO = { title: "custom and external metrics", version: "v1beta1" };

function versionsOf(group: string): readonly string[] {
  return group === CUSTOM ? CUSTOM_VERSIONS : EXTERNAL_VERSIONS;
}

function groupOf(name: string) {
  const versions = versionsOf(name).map((version) => ({ groupVersion: `${name}/${version}`, version }));
  const [preferredVersion = { groupVersion: "", version: "" }] = versions;
  return { name, versions, preferredVersion };
}

function resource(name: string, namespaced: boolean, kind: string) {
  return { name, singularName: "", namespaced, kind, verbs: ["get"] };
}

function unique<T>(items: readonly T[], keyOf: (item: T) => string): readonly (readonly [string, T])[] {
  return [...new Map(items.map((item) => [keyOf(item), item]))].sort(([a], [b]) => (a < b ? -1 : 1));
}
