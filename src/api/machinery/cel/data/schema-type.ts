/**
 * The CEL type of an OpenAPI v3 schema of a CRD.
 *
 * 1. A part without a schema is not exposed: it has no type, and neither has a list or map of it.
 * 2. The root of a resource has apiVersion, kind, metadata.name and metadata.generateName, whatever the schema says.
 * 3. Sizes without a limit in the schema are limited by the size of a request.
 */
import { isNumeric } from "../../json/int64.ts";
import { isObject, type Json, type JsonObject } from "../../json/json.ts";
import { escapeName } from "../values/escape.ts";
import type { DataHints, Field, Type } from "../values/type.ts";
import * as types from "../values/type.ts";
import { codePoints } from "../values/value.ts";

export const maxRequestBytes = 3 * 1024 * 1024;

export interface SchemaTypeOptions {
  /** The name of the type; types within are named after it: `name.field`, `name.list.@idx`. */
  readonly name: string;
  /** The schema is that of a whole resource. */
  readonly resource?: boolean;
}

/** Undefined if CEL cannot see any of it. */
export function typeFromSchema(schema: JsonObject, { name, resource = false }: SchemaTypeOptions): Type | undefined {
  const typed = fromSchema(schema, name, resource);
  return typed?.type;
}

/** How often data of this type may occur in one request at most. */
export function maxCardinality(type: Type): number {
  return Math.floor(maxRequestBytes / ((type.data?.minSize ?? 0) + 1));
}

interface Typed {
  readonly type: Type;
  readonly minSize: number;
}

function fromSchema(schema: JsonObject, name: string, resource: boolean): Typed | undefined {
  const nullable = schema.nullable === true;
  if (schema["x-kubernetes-int-or-string"] === true) {
    const maxSize = count(schema.maxLength, 4) ?? maxRequestBytes - 2;
    return typed(types.dyn, 1, { maxSize, nullable, format: "intOrString" });
  }
  switch (schema.type) {
    case "array":
      return fromArray(schema, name, nullable);
    case "object":
      return fromObject(resource ? withMetadata(schema) : schema, name, nullable);
    case "string":
      return fromString(schema, nullable);
    case "boolean":
      return typed(types.bool, 4, { nullable });
    case "number":
      return typed(types.double, 1, { nullable });
    case "integer":
      return typed(types.int, 1, { nullable });
    default:
      return undefined;
  }
}

function typed(type: Type, minSize: number, { nullable, ...hints }: DataHints): Typed {
  return { type: types.withData(type, { ...hints, minSize, ...(nullable === true && { nullable }) }), minSize };
}

/** A limit of a schema, times the bytes that one unit may take. */
function count(limit: Json | undefined, times = 1): number | undefined {
  return isNumeric(limit) ? Math.max(0, Number(limit)) * times : undefined;
}

function isEmbedded(schema: JsonObject): boolean {
  return schema["x-kubernetes-embedded-resource"] === true;
}

function fromArray(schema: JsonObject, name: string, nullable: boolean): Typed | undefined {
  if (!isObject(schema.items)) return undefined;
  const item = fromSchema(schema.items, `${name}.@idx`, isEmbedded(schema.items));
  if (item === undefined) return undefined;
  const maxSize = count(schema.maxItems) ?? Math.floor((maxRequestBytes - 2) / (item.minSize + 1));
  const listType = listTypeOf(schema);
  return typed(types.list(item.type), 2, { maxSize, nullable, listType });
}

function listTypeOf(schema: JsonObject): DataHints["listType"] {
  if (schema["x-kubernetes-list-type"] === "set") return { type: "set" };
  if (schema["x-kubernetes-list-type"] !== "map") return undefined;
  const keys = schema["x-kubernetes-list-map-keys"];
  return { type: "map", keys: Array.isArray(keys) ? keys.filter((key) => typeof key === "string") : [] };
}

function fromObject(schema: JsonObject, name: string, nullable: boolean): Typed | undefined {
  if (isObject(schema.additionalProperties)) return fromMap(schema, schema.additionalProperties, name, nullable);
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const fields = new Map<string, Field>();
  let minSize = 2;
  for (const [property, propertySchema] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
    if (!isObject(propertySchema)) continue;
    const escaped = escapeName(property);
    const field = fromSchema(propertySchema, `${name}.${escaped ?? property}`, isEmbedded(propertySchema));
    if (field === undefined) continue;
    if (escaped !== undefined) fields.set(escaped, { json: property, type: field.type });
    if (required.has(property) && propertySchema.default === undefined)
      minSize += utf8Length(property) + field.minSize + 4;
  }
  return typed(types.object(name, fields), minSize, { nullable });
}

function fromMap(schema: JsonObject, values: JsonObject, name: string, nullable: boolean): Typed | undefined {
  const value = fromSchema(values, `${name}.@elem`, isEmbedded(values));
  if (value === undefined) return undefined;
  const maxSize = count(schema.maxProperties) ?? Math.floor((maxRequestBytes - 2) / (value.minSize + 6));
  return typed(types.map(types.string, value.type), 2, { maxSize, nullable });
}

function fromString(schema: JsonObject, nullable: boolean): Typed {
  switch (schema.format) {
    case "byte":
      return typed(types.bytes, 2, { maxSize: count(schema.maxLength) ?? maxRequestBytes - 2, nullable });
    case "duration":
      return typed(types.duration, 3, { maxSize: 32, nullable });
    case "date":
      return typed(types.timestamp, 12, { maxSize: 12, nullable, format: "date" });
    case "date-time":
      return typed(types.timestamp, 21, { maxSize: 32, nullable });
  }
  const maxSize = count(schema.maxLength, 4) ?? longestOf(schema.enum) ?? maxRequestBytes - 2;
  return typed(types.string, 2, { maxSize, nullable });
}

function longestOf(values: Json | undefined): number | undefined {
  if (!Array.isArray(values) || values.length === 0) return undefined;
  return Math.max(0, ...values.map((value) => (typeof value === "string" ? utf8Length(value) : 0)));
}

function utf8Length(text: string): number {
  return codePoints(text) === text.length && /^[\0-\x7f]*$/.test(text)
    ? text.length
    : new TextEncoder().encode(text).length;
}

function withMetadata(schema: JsonObject): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const metadata = property(properties, "metadata");
  const within = isObject(metadata.properties) ? metadata.properties : {};
  const isComplete =
    metadata.type === "object" &&
    [property(properties, "kind"), property(properties, "apiVersion")].every(({ type }) => type === "string") &&
    [property(within, "name"), property(within, "generateName")].every(({ type }) => type === "string");
  if (isComplete) return schema;
  const text = { type: "string" };
  return {
    ...schema,
    properties: {
      ...properties,
      kind: text,
      apiVersion: text,
      metadata: { type: "object", properties: { name: text, generateName: text } },
    },
  };
}

function property(properties: JsonObject, name: string): JsonObject {
  const found = properties[name];
  return isObject(found) ? found : {};
}
