/** Objects for tests, as a user would write them. */
import type { Json, JsonObject } from "../../machinery/json/json.ts";

export function object(apiVersion: string, kind: string, rest: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion, kind, metadata: { name: "x", ...metadata }, ...rest };
}

export function podTemplate(spec: JsonObject = {}, labels: JsonObject = { app: "a" }): JsonObject {
  return { metadata: { labels }, spec: { containers: [{ name: "c", image: "nginx:1" }], ...spec } };
}

/** A workload with one pod template; `spec` is merged over the minimum. */
export function workload(kind: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  const least = { selector: { matchLabels: { app: "a" } }, template: podTemplate() };
  return object("apps/v1", kind, { spec: { ...least, ...spec } }, metadata);
}

export function job(spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "nginx:1" }] } };
  return object("batch/v1", "Job", { spec: { template, ...spec } }, metadata);
}

/** `spec.replicas: Invalid value: -1: …`, one for each cause; empty where nothing was refused. */
export function faults({ refused }: { readonly refused?: JsonObject }): readonly string[] {
  const causes = ((refused?.details as JsonObject | undefined)?.causes ?? []) as readonly JsonObject[];
  return causes.map(({ field, message }) => `${field}: ${message}`);
}

/** The value at a path such as `spec.strategy.type`; undefined where there is none. */
export function at(value: Json | undefined, path: string): Json | undefined {
  return path.split(".").reduce<Json | undefined>((part, name) => (part as JsonObject | undefined)?.[name], value);
}
