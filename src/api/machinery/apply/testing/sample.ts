/** A small kind with every shape of schema, and random values of it. */
import fc from "fast-check";
import type { Json, JsonObject } from "../../json/json.ts";
import type { FieldSchema, ObjectSchema, Schema } from "../../schema/schema.ts";

export function field(name: string, schema: Schema, extra: Partial<FieldSchema> = {}): FieldSchema {
  return { name, number: 0, schema, required: false, pointer: false, omit: "empty", ...extra };
}

export function object(
  fields: Readonly<Record<string, Schema | FieldSchema>>,
  extra: Partial<ObjectSchema> = {},
): ObjectSchema {
  const entries = Object.entries(fields).map(([name, given]): [string, FieldSchema] => [
    name,
    "schema" in given ? given : field(name, given),
  ]);
  return { type: "object", fields: new Map(entries), ...extra };
}

export const string: Schema = { type: "string" };
export const int: Schema = { type: "int32" };
export const strings: Schema = { type: "map", values: string };

const port = object({
  port: int,
  protocol: field("protocol", string, { default: "TCP" }),
  name: string,
  labels: strings,
});

export const sampleSchema = object({
  apiVersion: string,
  kind: string,
  metadata: object({ name: string, labels: strings, uid: string }),
  spec: object({
    size: int,
    on: { type: "boolean" },
    nested: object({ a: string, b: int }),
    labels: strings,
    whole: object({ a: string, b: string }, { atomic: true }),
    selector: { type: "map", values: string, atomic: true },
    args: { type: "list", items: string, listType: "atomic", keys: [] },
    finalizers: { type: "list", items: string, listType: "set", keys: [] },
    ports: { type: "list", items: port, listType: "map", keys: ["port", "protocol"] },
    extra: { type: "any" },
    raw: { type: "any", number: 1 },
  }),
});

export function sample(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: "example.com/v1", kind: "Sample", metadata: { name: "s", ...metadata }, spec };
}

const word = fc.constantFrom("a", "b", "c", "d");
const words = fc.dictionary(word, word, { maxKeys: 3 });
const number = fc.integer({ min: 0, max: 3 });

function optional(fields: Readonly<Record<string, fc.Arbitrary<Json>>>): fc.Arbitrary<JsonObject> {
  return fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>;
}

const ports = fc.uniqueArray(
  fc
    .record({
      port: number,
      protocol: fc.constantFrom("TCP", "UDP", undefined),
      name: fc.option(word, { nil: undefined }),
      labels: fc.option(words, { nil: undefined }),
    })
    .map((given) => JSON.parse(JSON.stringify(given)) as JsonObject),
  { selector: ({ port: number, protocol = "TCP" }) => `${number}/${protocol}`, maxLength: 4 },
);

/** A spec without nulls. */
export const anySpec: fc.Arbitrary<JsonObject> = optional({
  size: number,
  on: fc.boolean(),
  nested: optional({ a: word, b: number }),
  labels: words,
  whole: optional({ a: word, b: word }),
  selector: words,
  args: fc.array(word, { maxLength: 3 }),
  finalizers: fc.uniqueArray(word, { maxLength: 3 }),
  ports,
  extra: fc.oneof(
    word,
    fc.array(word, { maxLength: 2 }),
    fc.dictionary(word, fc.oneof(word, words) as fc.Arbitrary<Json>, { maxKeys: 2 }),
  ) as fc.Arbitrary<Json>,
  raw: words,
});
