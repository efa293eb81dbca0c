/**
 * Applies the defaults that the schema declares: a field that is absent or zero gets its default, at any depth.
 *
 * 1. Compiled once for each schema, which is immutable; parts of a schema without defaults are never walked.
 */
import { isObject, type Json } from "../json/json.ts";
import { type OpenObject, setKey } from "../json/own-key.ts";
import type { FieldSchema, ObjectSchema, Schema } from "./schema.ts";

type Filler = (value: Json) => void;

/** Changes a decoded draft in place. */
export function applySchemaDefaults(schema: ObjectSchema, draft: OpenObject): void {
  if (schema.form !== undefined) schema.form.fill(draft);
  else fillerOf(schema)?.(draft);
}

const NOTHING: Filler = () => {};
const fillers = new WeakMap<Schema, Filler | undefined>();

function fillerOf(schema: Schema): Filler | undefined {
  if (!fillers.has(schema)) {
    // Set first: a schema may contain itself.
    let compiled: Filler | undefined;
    fillers.set(schema, (value) => compiled?.(value));
    compiled = compile(schema);
    fillers.set(schema, compiled);
  }
  return fillers.get(schema);
}

function compile(schema: Schema): Filler | undefined {
  if (schema.type === "object") return compileObject(schema);
  if (schema.type === "list") {
    const filler = fillerOf(schema.items);
    return filler && ((value) => Array.isArray(value) && value.forEach(filler));
  }
  if (schema.type === "map") {
    const filler = fillerOf(schema.values);
    return filler && ((value) => isObject(value) && Object.values(value).forEach(filler));
  }
  return undefined;
}

function compileObject(schema: ObjectSchema): Filler | undefined {
  const steps = [...schema.fields.values()].map(compileField).filter((step) => step !== undefined);
  if (steps.length === 0) return undefined;
  return (value) => {
    if (isObject(value)) for (const step of steps) step(value as OpenObject);
  };
}

function compileField(field: FieldSchema): ((object: OpenObject) => void) | undefined {
  const { name } = field;
  const fallback = isUnset(field.default, field) ? undefined : field.default;
  const inner = fillerOf(field.schema) ?? NOTHING;
  if (fallback === undefined && inner === NOTHING) return undefined;
  return (object) => {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    if (fallback !== undefined && isUnset(value, field)) setKey(object, name, fresh(fallback));
    else if (value !== undefined) inner(value);
  };
}

function fresh(value: Json): Json {
  return typeof value === "object" ? structuredClone(value) : value;
}

/** A default that is the zero value changes nothing: Go leaves it out as well. */
function isUnset(value: Json | undefined, { pointer }: FieldSchema): boolean {
  if (value === undefined || value === null) return true;
  return !pointer && (value === "" || value === 0 || value === false);
}
