import { describe, expect, it } from "vitest";
import type { FieldSchema, ObjectSchema, Schema } from "../../schema/schema.ts";
import { celEnvironment } from "../program/environment.ts";
import { formatType } from "../values/type.ts";
import { typeFromFacts } from "./facts-type.ts";

function object(goType: string, fields: () => Readonly<Record<string, Schema>>): ObjectSchema {
  return {
    type: "object",
    goType,
    get fields() {
      return new Map(
        Object.entries(fields()).map(([name, schema], index): [string, FieldSchema] => [
          name,
          { name, number: index + 1, schema, required: false, pointer: false, omit: "empty" },
        ]),
      );
    },
  };
}

const node: ObjectSchema = object("Node", () => ({
  name: { type: "string" },
  replicas: { type: "int32" },
  ratio: { type: "double" },
  ready: { type: "boolean" },
  data: { type: "map", values: { type: "bytes" } },
  since: { type: "time" },
  timeout: { type: "duration" },
  cpu: { type: "quantity" },
  port: { type: "intOrString" },
  namespace: { type: "string" },
  raw: { type: "any" },
  children: { type: "list", items: node, listType: "atomic", keys: [] },
}));
const type = typeFromFacts(node, "Node");
const environment = celEnvironment({ variables: { object: type } });

describe("built-in kinds", () => {
  it.each([
    ["object.name", "string"],
    ["object.replicas", "int"],
    ["object.ratio", "double"],
    ["object.ready", "bool"],
    ["object.data", "map(string, bytes)"],
    ["object.since", "timestamp"],
    ["object.timeout", "string"],
    ["object.cpu", "dyn"],
    ["object.port", "dyn"],
    ["object.namespace", "string"],
    ["object.raw.anything", "dyn"],
    ["object.children[0].children[1].name", "string"],
    ["object.children.map(c, c.children == object.children)", "list(bool)"],
  ])("%s is %s", (text, want) => {
    const compiled = environment.compile(text);
    expect(compiled.ok ? formatType(compiled.type) : compiled.issues).toBe(want);
  });

  it("are read from their JSON", () => {
    const compiled = environment.compile(
      "object.since < timestamp('2025-01-01T00:00:00Z') && object.port + 1 == 81 && object.data.a == b'ab'",
    );
    expect(
      compiled.ok &&
        compiled.program.evaluate({ object: { since: "2024-01-01T00:00:00Z", port: 80, data: { a: "YWI=" } } }),
    ).toMatchObject({ value: true });
  });
});
