import { describe, expect, it } from "vitest";
import type { Json } from "../json/json.ts";
import { applySchemaDefaults } from "./defaults.ts";
import type { FieldSchema, ObjectSchema, Schema } from "./schema.ts";

function object(fields: Record<string, Partial<FieldSchema> & { schema: Schema }>): ObjectSchema {
  const entries = Object.entries(fields).map(([name, field]): [string, FieldSchema] => [
    name,
    { name, number: 0, required: false, pointer: false, omit: "empty", ...field },
  ]);
  return { type: "object", fields: new Map(entries) };
}

const port = object({
  number: { schema: { type: "int32" } },
  protocol: { schema: { type: "string" }, default: "TCP" },
  ready: { schema: { type: "boolean" }, default: true, pointer: true },
});
const schema = object({
  size: { schema: { type: "int32" }, default: 3 },
  count: { schema: { type: "int32" }, default: 3, pointer: true },
  main: { schema: port },
  strategy: { schema: object({ type: { schema: { type: "string" }, default: "Rolling" } }), default: {} },
  ports: { schema: { type: "list", items: port, listType: "atomic", keys: [] } },
  named: { schema: { type: "map", values: port } },
  plain: { schema: object({ a: { schema: { type: "string" } } }) },
});

describe("defaults of a schema", () => {
  const filled = { size: 3, count: 3, strategy: {} };
  const cases: { name: string; given: { [key: string]: Json }; want: Json }[] = [
    { name: "what is absent", given: {}, want: filled },
    { name: "what has its zero value", given: { size: 0 }, want: filled },
    { name: "not what a pointer says is zero", given: { count: 0 }, want: { ...filled, count: 0 } },
    { name: "what is null", given: { size: null, count: null }, want: filled },
    { name: "not what is there", given: { size: 7, count: 8 }, want: { ...filled, size: 7, count: 8 } },
    { name: "inside of objects", given: { main: {} }, want: { ...filled, main: { protocol: "TCP", ready: true } } },
    { name: "not objects that are absent themselves", given: {}, want: filled },
    {
      name: "a boolean that a pointer says is false",
      given: { main: { ready: false } },
      want: { ...filled, main: { protocol: "TCP", ready: false } },
    },
    {
      name: "empty text",
      given: { main: { protocol: "" } },
      want: { ...filled, main: { protocol: "TCP", ready: true } },
    },
    {
      name: "items of lists",
      given: { ports: [{ number: 1 }, { protocol: "UDP", ready: false }, null] },
      want: {
        ...filled,
        ports: [{ number: 1, protocol: "TCP", ready: true }, { protocol: "UDP", ready: false }, null],
      },
    },
    {
      name: "values of maps",
      given: { named: { a: {}, __proto__x: {} } },
      want: { ...filled, named: { a: { protocol: "TCP", ready: true }, __proto__x: { protocol: "TCP", ready: true } } },
    },
    {
      name: "nothing where the type is another",
      given: { main: "text", ports: "text" },
      want: { ...filled, main: "text", ports: "text" },
    },
    {
      name: "inside of what is there",
      given: { strategy: { other: 1 } },
      want: { ...filled, strategy: { other: 1, type: "Rolling" } },
    },
  ];
  it.each(cases)("$name", ({ given, want }) => {
    const draft = structuredClone(given);
    applySchemaDefaults(schema, draft);
    expect(draft).toEqual(want);
  });

  it("are never shared between objects", () => {
    const one: { [key: string]: Json } = {};
    const two: { [key: string]: Json } = {};
    applySchemaDefaults(schema, one);
    applySchemaDefaults(schema, two);
    expect(one.strategy).not.toBe(two.strategy);
  });

  it("reach into a schema that contains itself", () => {
    const fields = new Map<string, FieldSchema>();
    const tree: ObjectSchema = { type: "object", fields };
    const common = { number: 0, required: false, pointer: false, omit: "empty" as const };
    fields.set("kind", { name: "kind", schema: { type: "string" }, default: "leaf", ...common });
    fields.set("children", {
      name: "children",
      schema: { type: "list", items: tree, listType: "atomic", keys: [] },
      ...common,
    });
    const draft: { [key: string]: Json } = { children: [{ children: [{}] }] };
    applySchemaDefaults(tree, draft);
    expect(draft).toEqual({ kind: "leaf", children: [{ kind: "leaf", children: [{ kind: "leaf" }] }] });
  });
});
