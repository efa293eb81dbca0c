import { describe, expect, it } from "vitest";
import { typeSchema } from "../../facts/index.ts";
import type { Schema } from "./schema.ts";
import { inTypeOrder } from "./type-order.ts";

const pod = typeSchema("io.k8s.api.core.v1.Pod");
const custom: Schema = { type: "object", fields: new Map() };

describe("the order in which Go writes", () => {
  it.each([
    [
      "fields of structs, as declared",
      pod,
      '{"kind":"Pod","metadata":{"labels":{},"name":"a"},"apiVersion":"v1"}',
      '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":{}}}',
    ],
    [
      "structs in lists",
      pod,
      '{"spec":{"containers":[{"image":"x","name":"a"}]}}',
      '{"spec":{"containers":[{"name":"a","image":"x"}]}}',
    ],
    [
      "keys of maps, sorted",
      pod,
      '{"metadata":{"labels":{"b":"1","a":"2"}}}',
      '{"metadata":{"labels":{"a":"2","b":"1"}}}',
    ],
    [
      "raw JSON, as it is",
      pod,
      '{"metadata":{"managedFields":[{"fieldsV1":{"f:b":{},"f:a":{}},"manager":"m"}]}}',
      '{"metadata":{"managedFields":[{"manager":"m","fieldsV1":{"f:b":{},"f:a":{}}}]}}',
    ],
    [
      "all of a custom resource, sorted",
      custom,
      '{"spec":{"b":[{"d":1,"c":2}],"a":1},"kind":"X"}',
      '{"kind":"X","spec":{"a":1,"b":[{"c":2,"d":1}]}}',
    ],
  ])("%s", (_, schema, given, want) => {
    expect(JSON.stringify(inTypeOrder(schema, JSON.parse(given)))).toBe(want);
  });
});
