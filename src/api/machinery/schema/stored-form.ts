/**
 * The stored form of lists, maps and bytes that JSON always writes: Kubernetes stores protobuf, which has no difference
 * between an empty list and none. So `rules: []` is read back as `rules: null`, and bytes that are null in a map as "".
 *
 * 1. Compiled once for each schema, which is immutable; parts of a schema without such a field are never walked.
 */
import { isObject, type Json } from "../json/json.ts";
import type { OpenObject } from "../json/own-key.ts";
import type { FieldSchema, ObjectSchema, Schema } from "./schema.ts";

type Step = (value: Json) => void;

/** Changes a draft in place. Objects without a Go type (custom resources) are stored as JSON, and stay as they are. */
export function applyStoredForm(schema: ObjectSchema, draft: OpenObject): void {
  stepOf(schema)?.(draft);
}

const steps = new WeakMap<Schema, Step | undefined>();

function stepOf(schema: Schema): Step | undefined {
  if (!steps.has(schema)) {
    // Set first: a schema may contain itself.
    let compiled: Step | undefined;
    steps.set(schema, (value) => compiled?.(value));
    compiled = compile(schema);
    steps.set(schema, compiled);
  }
  return steps.get(schema);
}

function compile(schema: Schema): Step | undefined {
  if (
    (schema.type === "list" && schema.items.type === "bytes") ||
    (schema.type === "map" && schema.values.type === "bytes")
  )
    return emptyBytes;
  if (schema.type === "list") {
    const step = stepOf(schema.items);
    return step && ((value) => Array.isArray(value) && value.forEach(step));
  }
  if (schema.type === "map") {
    const step = stepOf(schema.values);
    return step && ((value) => isObject(value) && Object.values(value).forEach(step));
  }
  if (schema.type !== "object" || schema.goType === undefined) return undefined;
  const fields = [...schema.fields.values()].map(compileField).filter((step) => step !== undefined);
  if (fields.length === 0) return undefined;
  return (value) => {
    if (isObject(value)) for (const step of fields) step(value as OpenObject);
  };
}

/** The items of a list, or the values of a map. */
function emptyBytes(value: Json): void {
  const parts = value as { [key: string]: Json };
  for (const key in parts) if (parts[key] === null) parts[key] = "";
}

function compileField({ name, schema, omit }: FieldSchema): ((object: OpenObject) => void) | undefined {
  const inner = stepOf(schema);
  const always = omit === "never" && (schema.type === "list" || schema.type === "map");
  if (!always && inner === undefined) return undefined;
  return (object) => {
    const value = object[name];
    if (value === undefined || value === null) return;
    if (always && Object.keys(value).length === 0) object[name] = null;
    else inner?.(value);
  };
}
