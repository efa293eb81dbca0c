/**
 * The CEL type of a built-in kind, from its schema.
 *
 * 1. Types may be recursive: fields are resolved when an expression selects them.
 * 2. Values with several forms in JSON (quantities, int-or-string, raw JSON) are dyn.
 */
import type { ObjectSchema, Schema } from "../../schema/schema.ts";
import { escapeName } from "../values/escape.ts";
import type { Field, ObjectType, Type } from "../values/type.ts";
import * as types from "../values/type.ts";

export function typeFromFacts(schema: ObjectSchema, name: string): ObjectType {
  return objectType(schema, schema.goType ?? name, new Map());
}

type Known = Map<ObjectSchema, ObjectType>;

function objectType(schema: ObjectSchema, name: string, known: Known): ObjectType {
  const found = known.get(schema);
  if (found !== undefined) return found;
  const type = types.object(schema.goType ?? name, () => {
    const fields = new Map<string, Field>();
    for (const [json, field] of schema.fields) {
      const escaped = escapeName(json);
      if (escaped !== undefined) fields.set(escaped, { json, type: typeOf(field.schema, `${name}.${escaped}`, known) });
    }
    return fields;
  });
  known.set(schema, type);
  return type;
}

function typeOf(schema: Schema, name: string, known: Known): Type {
  switch (schema.type) {
    case "string":
    case "duration":
      return types.string;
    case "boolean":
      return types.bool;
    case "int32":
    case "int64":
      return types.int;
    case "double":
      return types.double;
    case "bytes":
      return types.bytes;
    case "time":
    case "microTime":
      return types.timestamp;
    case "intOrString":
      return types.withData(types.dyn, { format: "intOrString" });
    case "object":
      return schema.preserveUnknown === true && schema.fields.size === 0 ? types.dyn : objectType(schema, name, known);
    case "map":
      return types.map(types.string, typeOf(schema.values, `${name}.@elem`, known));
    case "list":
      return types.list(typeOf(schema.items, `${name}.@idx`, known));
    case "quantity":
    case "any":
      return types.dyn;
  }
}
