/**
 * How server-side apply sees a value: as a leaf, which is owned as a whole, or as a map or list, whose parts have
 * owners of their own.
 *
 * 1. The schema decides. Without a schema (a part of a custom resource) the value does: maps have parts, lists and
 *    scalars are leaves. An opaque part of a built-in kind is always a leaf.
 * 2. An item of a list is identified by its keys, or by its value; a missing key takes the default of its field.
 */
import { goQuote } from "../json/go-text.ts";
import { isObject, type Json, type JsonObject } from "../json/json.ts";
import { getKey } from "../json/own-key.ts";
import type { AnySchema, FieldSchema, ListSchema, Schema } from "../schema/schema.ts";
import { zeroField } from "../schema/zero.ts";
import { keyElement, type PathElement, valueElement } from "./path-element.ts";

/** A value that does not fit its schema. */
export class ShapeError extends Error {
  override readonly name = "ShapeError";
}

export type Shape = "leaf" | "map" | "list";

const anything: AnySchema = { type: "any" };

export function shapeOf(schema: Schema, value: Json): Shape {
  switch (schema.type) {
    case "object":
    case "map":
      return schema.atomic ? "leaf" : "map";
    case "list":
      return schema.listType === "atomic" ? "leaf" : "list";
    case "any":
      return schema.number === undefined && (value === null || isObject(value)) ? "map" : "leaf";
    default:
      return "leaf";
  }
}

/** The declared fields of a structure, as opposed to the keys of a map. */
export function declaredFields(schema: Schema): ReadonlyMap<string, FieldSchema> | undefined {
  return schema.type === "object" ? schema.fields : undefined;
}

/**
 * The schema of a part of a map: an undeclared field is treated by its value. `declared` are the schema's declared
 * fields.
 */
export function partSchema(
  schema: Schema,
  declared: ReadonlyMap<string, FieldSchema> | undefined,
  name: string,
): Schema {
  if (declared !== undefined) return declared.get(name)?.schema ?? anything;
  return schema.type === "map" ? schema.values : anything;
}

export function fieldSchema(schema: Schema, name: string): Schema {
  return partSchema(schema, declaredFields(schema), name);
}

export function itemSchema(schema: Schema): Schema {
  return schema.type === "list" ? schema.items : anything;
}

export function asMap(value: Json | undefined): JsonObject | undefined {
  return value !== undefined && isObject(value) ? value : undefined;
}

export function asList(value: Json | undefined): readonly Json[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

export function isEmptyMap(map: JsonObject | undefined): boolean {
  for (const _ in map) return false;
  return true;
}

/** The element that identifies an item of a list. Throws, in the words of Kubernetes, if there is none. */
export function itemElement(schema: Schema, item: Json): PathElement {
  if (schema.type !== "list" || schema.listType === "atomic")
    throw new ShapeError("invalid indexing of non-associative list");
  return schema.listType === "set" ? setElement(item) : keyedElement(schema, item);
}

function setElement(item: Json): PathElement {
  if (item === null) throw new ShapeError("associative list without keys has an element that's an explicit null");
  if (Array.isArray(item)) throw new ShapeError("not supported: associative list with lists as elements");
  if (isObject(item)) throw new ShapeError("associative list without keys has an element that's a map type");
  return valueElement(item);
}

function keyedElement(schema: ListSchema, item: Json): PathElement {
  if (item === null) throw new ShapeError("associative list with keys may not have a null element");
  if (!isObject(item)) throw new ShapeError("associative list with keys may not have non-map elements");
  const keys: [string, Json][] = [];
  for (const name of schema.keys) {
    const value = keyOf(schema, item, name);
    if (value !== undefined) keys.push([name, value]);
  }
  if (keys.length === 0) {
    const names = schema.keys.map(goQuote).join(" ");
    throw new ShapeError(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    );
  }
  return keyElement(keys);
}

function keyOf(schema: ListSchema, item: JsonObject, name: string): Json | undefined {
  const value = getKey(item, name);
  if (value !== undefined) return value;
  const { items } = schema;
  const field = items.type === "object" ? items.fields.get(name) : undefined;
  if (items.type !== "object" || field === undefined || field.default !== undefined) return field?.default;
  // OpenAPI shows the zero value as the default of what Go always writes.
  return items.goType !== undefined && field.omit === "never" ? zeroField(field) : undefined;
}

/** Whether two items of a list have the same keys, without writing their elements. */
export function sameItem(schema: Schema, a: Json, b: Json): boolean {
  if (schema.type !== "list" || schema.listType === "atomic") return false;
  if (schema.listType === "set") return a === b;
  if (!isObject(a) || !isObject(b)) return false;
  for (const name of schema.keys) {
    const key = keyOf(schema, a, name);
    if (key !== keyOf(schema, b, name) || (typeof key === "object" && key !== null)) return false;
  }
  return true;
}
