import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../machinery/json/json.ts";
import { DecodeError, decode } from "../../machinery/schema/decode.ts";
import type { JSONSchemaProps } from "../../types/apiextensions-v1.ts";
import { created, list, mapOf, object, preserving, thing, thingOf } from "../testing/definitions.ts";

const text = { type: "string" };
const open = { "x-kubernetes-preserve-unknown-fields": true };

interface Row {
  readonly name: string;
  readonly schema: JSONSchemaProps;
  readonly given: Json;
  readonly want: Json;
  readonly unknown?: readonly string[];
}

const pruning: readonly Row[] = [
  {
    name: "unknown fields go",
    schema: object({ a: text }),
    given: { a: "1", b: 2 },
    want: { a: "1" },
    unknown: ["spec.b"],
  },
  {
    name: "in order of their paths",
    schema: object({ a: object({}) }),
    given: { z: 1, a: { y: 1, b: 1 } },
    want: { a: {} },
    unknown: ["spec.a.b", "spec.a.y", "spec.z"],
  },
  {
    name: "in items",
    schema: object({ l: list(object({ a: text })) }),
    given: { l: [{ a: "1" }, { b: 1 }] },
    want: { l: [{ a: "1" }, {}] },
    unknown: ["spec.l[1].b"],
  },
  {
    name: "values of maps are pruned by their schema",
    schema: mapOf(object({ a: text })),
    given: { k: { a: "1", b: 1 } },
    want: { k: { a: "1" } },
    unknown: ["spec.k.b"],
  },
  {
    name: "values without a schema lose their fields",
    schema: { type: "object", additionalProperties: true },
    given: { a: 1, b: { c: 1 }, d: [{ e: 1 }] },
    want: { a: 1, b: {}, d: [{}] },
    unknown: ["spec.b.c", "spec.d[0].e"],
  },
  {
    name: "a node may keep what it does not know",
    schema: object({ a: object({ x: text }) }, open),
    given: { b: { c: [1, { d: null }] }, a: { x: "1", y: 1 } },
    want: { b: { c: [1, { d: null }] }, a: { x: "1" } },
    unknown: ["spec.a.y"],
  },
  {
    name: "and so do items below it",
    schema: list(object({ a: object({}) }), open),
    given: [{ a: { b: 1 }, c: 1 }],
    want: [{ a: {}, c: 1 }],
    unknown: ["spec[0].a.b"],
  },
  {
    name: "scalars of the wrong type are left to validation",
    schema: object({ a: text }),
    given: { a: 5 },
    want: { a: 5 },
  },
  {
    name: "fields of what should be a scalar go",
    schema: object({ a: text }),
    given: { a: { b: 1 } },
    want: { a: {} },
    unknown: ["spec.a.b"],
  },
  {
    name: "any key can be a key",
    schema: { type: "object", additionalProperties: text },
    given: JSON.parse('{"__proto__": "x", "constructor": "y"}') as Json,
    want: JSON.parse('{"__proto__": "x", "constructor": "y"}') as Json,
  },
  {
    name: "null goes where it is not allowed",
    schema: object({ a: text, b: { ...text, nullable: true } }),
    given: { a: null, b: null },
    want: { b: null },
  },
  { name: "null stays where nothing is known", schema: preserving, given: { a: null }, want: { a: null } },
  {
    name: "embedded objects keep what names them",
    schema: object({ e: { ...object({ spec: object({}) }), "x-kubernetes-embedded-resource": true } }),
    given: {
      e: {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "a", creationTimestamp: null, nosuch: 1 },
        spec: { x: 1 },
        more: 1,
      },
    },
    want: { e: { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec: {} } },
    unknown: ["spec.e.more", "spec.e.spec.x", "spec.e.metadata.nosuch"],
  },
];

describe("pruning", () => {
  it.each(pruning)("$name", ({ schema, given, want, unknown = [] }) => {
    const kind = thing(schema);
    const body = thingOf(given);
    const before = structuredClone(body);
    const decoded = decode(kind.schema, body);
    expect((decoded.value as JsonObject).spec).toEqual(want);
    expect(decoded.unknown).toEqual(unknown);
    expect(body).toEqual(before);
  });

  it("tells of unknown metadata first", () => {
    const body = { ...thingOf({ b: 1 }), metadata: { name: "a", nosuch: 1 }, top: 1 };
    expect(decode(thing(object({})).schema, body).unknown).toEqual(["metadata.nosuch", "spec.b", "top"]);
  });

  it("refuses metadata that is none, but lives with it when it was stored", () => {
    const kind = thing(object({}));
    const body = { ...thingOf({}), metadata: { name: "a", labels: { x: 1 }, annotations: { y: "z" } } };
    expect(() => decode(kind.schema, body)).toThrow(DecodeError);
    expect(kind.read(body as never).metadata).toEqual({ name: "a", annotations: { y: "z" } });
  });
});

const filled: readonly Row[] = [
  { name: "what is absent", schema: object({ a: { ...text, default: "x" } }), given: {}, want: { a: "x" } },
  {
    name: "not what is there, however empty",
    schema: object({ a: { ...text, default: "x" }, n: { type: "integer", default: 1 } }),
    given: { a: "", n: 0 },
    want: { a: "", n: 0 },
  },
  {
    name: "null, where it is not allowed",
    schema: object({ a: { ...text, default: "x" }, b: { ...text, nullable: true, default: "y" } }),
    given: { a: null, b: null },
    want: { a: "x", b: null },
  },
  {
    name: "from the outside in",
    schema: object({ a: { ...object({ b: { ...text, default: "x" } }), default: {} } }),
    given: {},
    want: { a: { b: "x" } },
  },
  {
    name: "not inside of what is not there",
    schema: object({ a: object({ b: { ...text, default: "x" } }) }),
    given: {},
    want: {},
  },
  {
    name: "in items",
    schema: object({ l: list(object({ b: { ...text, default: "x" } })) }),
    given: { l: [{}, { b: "y" }] },
    want: { l: [{ b: "x" }, { b: "y" }] },
  },
  {
    name: "items that are null",
    schema: object({ l: { type: "array", items: { ...text, default: "x" } } }),
    given: { l: [null] },
    want: { l: ["x"] },
  },
  {
    name: "in values of maps",
    schema: mapOf(object({ b: { ...text, default: "x" } })),
    given: { k: {} },
    want: { k: { b: "x" } },
  },
];

describe("defaults fill in", () => {
  it.each(filled)("$name", ({ schema, given, want }) => {
    const kind = thing(schema);
    expect(created(kind, given).spec).toEqual(want);
    expect((kind.read(thingOf(given) as never) as unknown as JsonObject).spec).toEqual(want);
  });

  it("each object gets its own", () => {
    const kind = thing(object({ a: { ...object({}), default: {} } }));
    const [first, second] = [created(kind, {}), created(kind, {})];
    expect((first.spec as JsonObject).a).not.toBe((second.spec as JsonObject).a);
  });
});
