/**
 * The order in which Go writes an object, for messages that show a document: the fields of a struct stand as its type
 * declares them, the keys of a map are sorted, and so is all of an object without a Go type.
 */
import { isObject, type Json } from "../json/json.ts";
import { getKey, type OpenObject, setKey } from "../json/own-key.ts";
import type { Schema } from "./schema.ts";

const anything: Schema = { type: "any" };

export function inTypeOrder(schema: Schema, value: Json): Json {
  // Raw JSON is written as it was read.
  if (schema.type === "any" && schema.number !== undefined) return value;
  if (Array.isArray(value)) {
    const items = schema.type === "list" ? schema.items : anything;
    return value.map((item) => inTypeOrder(items, item));
  }
  if (!isObject(value)) return value;
  const ordered: OpenObject = {};
  const isStruct = schema.type === "object" && schema.goType !== undefined;
  const names = isStruct ? [...schema.fields.keys()] : Object.keys(value).sort();
  for (const name of names) {
    const part = getKey(value, name);
    if (part !== undefined)
      setKey(ordered, name, inTypeOrder(isStruct ? partOf(schema, name) : valuesOf(schema), part));
  }
  return ordered;
}

function partOf(schema: Schema, name: string): Schema {
  return (schema.type === "object" ? schema.fields.get(name)?.schema : undefined) ?? anything;
}

function valuesOf(schema: Schema): Schema {
  return schema.type === "map" ? schema.values : anything;
}
