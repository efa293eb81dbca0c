/** Random values that fit a schema, some of them odd: empty parts, nulls, items that share their keys. */
import fc from "fast-check";
import type { Json, JsonObject } from "../../json/json.ts";
import type { Schema } from "../../schema/schema.ts";

const word = fc.constantFrom("a", "b", "web.1", "two words", 'a "quote"', "\u{1f600}", "\uffee");
const scalar = fc.oneof(word, fc.integer({ min: -1, max: 2 }), fc.boolean(), fc.constant(null));

/** `depth`: how many levels of structures are filled in. */
export function anyValue(schema: Schema, depth: number): fc.Arbitrary<Json> {
  if (depth <= 0) return fc.constantFrom<Json>(null, ...(schema.type === "object" ? [{}] : []));
  switch (schema.type) {
    case "object":
      return fc
        .shuffledSubarray([...schema.fields.values()], { maxLength: Math.min(6, schema.fields.size) })
        .chain((fields) =>
          fc.tuple(...fields.map(({ name, schema: inner }) => fc.tuple(fc.constant(name), anyValue(inner, depth - 1)))),
        )
        .map((entries) => Object.fromEntries(entries) as JsonObject);
    case "map":
      return fc.dictionary(word, anyValue(schema.values, depth - 1), { maxKeys: 3 });
    case "list":
      return fc.array(
        schema.listType === "map"
          ? fc
              .tuple(anyValue(schema.items, depth - 1), fc.array(fc.oneof(word, fc.integer({ min: 0, max: 12 }))))
              .map(([item, keys]) => ({ ...(item as JsonObject | null), ...keyed(schema.keys, keys) }))
          : schema.listType === "set"
            ? word
            : anyValue(schema.items, depth - 1),
        { maxLength: 3 },
      );
    case "any":
      return fc.oneof(scalar, fc.dictionary(word, scalar, { maxKeys: 2 }));
    default:
      return scalar;
  }
}

function keyed(names: readonly string[], values: readonly Json[]): JsonObject {
  return Object.fromEntries(names.map((name, i) => [name, values[i] ?? "x"]));
}
