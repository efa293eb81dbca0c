/** Where strict decoding finds the first field that a type does not have. */
import { isObject, type Json } from "../json/json.ts";
import { getKey } from "../json/own-key.ts";
import type { Schema } from "../schema/schema.ts";
import { partOf } from "./encode.ts";

/** Its place among the fields of its object, which is all that Kubernetes says of it. Undefined: all are known. */
export function unknownFieldIndex(schema: Schema | undefined, value: Json): number | undefined {
  if (schema?.type === "list" && Array.isArray(value)) {
    for (const item of value) {
      const found = unknownFieldIndex(schema.items, item);
      if (found !== undefined) return found;
    }
  }
  if ((schema?.type !== "object" && schema?.type !== "map") || !isObject(value)) return undefined;
  for (const [i, key] of Object.keys(value).entries()) {
    if (schema.type === "object" && schema.goType !== undefined && !schema.fields.has(key)) return i;
    const found = unknownFieldIndex(partOf(schema, key), getKey(value, key) ?? null);
    if (found !== undefined) return found;
  }
  return undefined;
}
