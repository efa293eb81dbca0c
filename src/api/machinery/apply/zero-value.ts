/**
 * What an object of a kind looks like before anybody wrote anything into it: the structures that Go always writes, and nothing else. A
 * create is compared with it, so that nobody owns `spec` itself by creating an object that has one.
 */
import type { Json, JsonObject } from "../json.ts";
import type { FieldSchema, ObjectSchema, Schema } from "../schema.ts";

const zeroObjects = new WeakMap<ObjectSchema, JsonObject>();

/** Of a custom resource: nothing, because no Go type stands behind it. */
export function zeroObject(schema: ObjectSchema): JsonObject {
  let zero = zeroObjects.get(schema);
  if (zero === undefined) {
    zero = schema.goType === undefined ? {} : zeroFields(schema);
    zeroObjects.set(schema, zero);
  }
  return zero;
}

function zeroFields(schema: ObjectSchema): JsonObject {
  const fields: Record<string, Json> = {};
  for (const field of schema.fields.values()) {
    const zero = zeroField(field);
    if (zero !== undefined) fields[field.name] = zero;
  }
  return fields;
}

function zeroField({ schema, omit, pointer }: FieldSchema): Json | undefined {
  if (omit === "zero") return undefined;
  if (pointer) return omit === "never" ? null : undefined;
  const isStruct = schema.type === "object" || structScalars.has(schema.type);
  return omit === "never" || isStruct ? zeroOf(schema) : undefined;
}

/** Scalars in JSON that are structures in Go: `omitempty` does not leave them out. */
const structScalars: ReadonlySet<Schema["type"]> = new Set([
  "quantity",
  "intOrString",
  "time",
  "microTime",
  "duration",
] as const);

function zeroOf(schema: Schema): Json {
  switch (schema.type) {
    case "object":
      return zeroFields(schema);
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
    default:
      return null;
  }
}
