/** What Go writes for a value that was never set, and which values it leaves out. */

import type { Json } from "../json/json.ts";
import { isStruct } from "./go-types.ts";
import type { FieldSchema, Schema } from "./schema.ts";

/** A fresh zero value, as JSON. */
export function zeroValue(schema: Schema): Json {
  switch (schema.type) {
    case "string":
      return "";
    case "boolean":
      return false;
    case "int32":
    case "int64":
    case "double":
    case "intOrString":
      return 0;
    case "quantity":
      return "0";
    case "duration":
      return "0s";
    case "object": {
      const zero: { [key: string]: Json } = {};
      if (schema.goType === undefined) return zero;
      for (const field of schema.fields.values()) if (isAlwaysWritten(field)) zero[field.name] = zeroField(field);
      return zero;
    }
    default:
      return null;
  }
}

/** Written even if it is not set. */
export function isAlwaysWritten(field: FieldSchema): boolean {
  if (field.omit === "never") return true;
  return field.omit === "empty" && !field.pointer && isStruct(field.schema);
}

export function zeroField(field: FieldSchema): Json {
  return field.pointer ? null : zeroValue(field.schema);
}

/** Whether a value that is present is left out; compiled for one field. */
export function leavesOut(field: FieldSchema): (value: Json) => boolean {
  const { schema, omit, pointer } = field;
  if (omit === "never" || (pointer && schema.type !== "list" && schema.type !== "map")) return () => false;
  switch (schema.type) {
    case "list":
      return (value) => value === null || (value as readonly Json[]).length === 0;
    case "map":
      return (value) => value === null || isEmpty(value as object);
    case "bytes":
      return (value) => value === null || value === "";
    case "string":
      return (value) => value === "";
    case "boolean":
      return (value) => value === false;
    case "int32":
    case "int64":
    case "double":
      return (value) => value === 0;
    default:
      return omit === "zero" ? (value) => isZero(value, schema) : () => false;
  }
}

function isZero(value: Json, schema: Schema): boolean {
  if (schema.type !== "object") return value === zeroValue(schema);
  if (typeof value !== "object" || value === null) return false;
  for (const [name, child] of Object.entries(value)) {
    const field = schema.fields.get(name);
    if (field === undefined || !isAlwaysWritten(field)) return false;
    if (field.pointer ? child !== null : !isZero(child as Json, field.schema)) return false;
  }
  return true;
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false;
  return true;
}
