/**
 * Migration from client-side `kubectl apply`, which keeps its configuration in an annotation: for the manager
 * `kubectl`, fields that the annotation has with the live values are not conflicts, and the annotation is kept up to
 * date.
 */
import { goJson } from "../json/go-text.ts";
import { isObject, type Json, type JsonObject } from "../json/json.ts";
import { parseJson } from "../json/json-text.ts";
import { type OpenObject, setKey } from "../json/own-key.ts";
import type { ObjectSchema } from "../schema/schema.ts";
import { compare, touched } from "./compare.ts";
import { nonconformance } from "./conformance.ts";
import { difference, emptySet, type FieldSet } from "./field-set.ts";
import { ownedPaths } from "./owned-paths.ts";
import { compareText } from "./path-element.ts";

export const clientSideManager = "kubectl";
const annotation = "kubectl.kubernetes.io/last-applied-configuration";
const maxAnnotationBytes = 256 * 1024;

function lastApplied(object: JsonObject): string {
  const text = annotationsOf(object)?.[annotation];
  return typeof text === "string" ? text : "";
}

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const metadata = object.metadata;
  const annotations = metadata !== undefined && isObject(metadata) ? metadata.annotations : undefined;
  return annotations !== undefined && isObject(annotations) ? annotations : undefined;
}

/** The fields that `kubectl` may take over. Empty if the annotation is absent, unreadable or of another version. */
export function clientSideFields(live: JsonObject, schema: ObjectSchema, apiVersion: string): FieldSet {
  const configuration = parsedObject(lastApplied(live));
  if (configuration?.apiVersion !== apiVersion) return emptySet;
  if (nonconformance(schema, configuration) !== undefined) return emptySet;
  return difference(ownedPaths(schema, configuration), touched(compare(schema, configuration, live)));
}

function parsedObject(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The object with its annotation, if it has one, brought up to date. */
export function withLastApplied(object: JsonObject, applied: JsonObject): JsonObject {
  if (lastApplied(object) === "") return object;
  const annotations = { ...annotationsOf(object), [annotation]: `${goJson(inOrder(withoutAnnotation(applied)))}\n` };
  const size = Object.entries(annotations).reduce(
    (sum, [name, value]) => sum + byteLength(name) + byteLength(String(value)),
    0,
  );
  const { [annotation]: _, ...others } = annotations;
  const kept = size > maxAnnotationBytes ? others : annotations;
  return { ...object, metadata: { ...(object.metadata as JsonObject), annotations: kept } };
}

function withoutAnnotation(applied: JsonObject): JsonObject {
  const annotations = annotationsOf(applied);
  if (annotations?.[annotation] === undefined) return applied;
  const { [annotation]: _, ...others } = annotations;
  return { ...applied, metadata: { ...(applied.metadata as JsonObject), annotations: others } };
}

/** Go sorts the keys of a map. */
function inOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isObject(value)) return value;
  const ordered: OpenObject = {};
  for (const key of Object.keys(value).sort(compareText)) setKey(ordered, key, inOrder(value[key] as Json));
  return ordered;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
