import { describe, expect, it } from "vitest";
import { celEnvironment } from "../program/environment.ts";
import { plain } from "../testing/plain.ts";
import { formatType, type Type } from "../values/type.ts";
import { maxCardinality, typeFromSchema } from "./schema-type.ts";

const string = { type: "string" };
const integer = { type: "integer" };
const array = (items: object, more: object = {}) => ({ type: "array", items, ...more });

/** Its name and how much it may hold; undefined if it is not exposed. */
function described(schema: object, resource = false): string | undefined {
  const type = typeFromSchema(schema as never, { name: "T", resource });
  return type && `${formatType(type)} ${type.data?.maxSize ?? "-"} ${type.data?.minSize}`;
}

describe("types", () => {
  it.each([
    ["string", string, "string 3145726 2"],
    ["limited string", { type: "string", maxLength: 20 }, "string 80 2"],
    ["enum", { type: "string", enum: ["a", "abc"] }, "string 3 2"],
    ["bytes", { type: "string", format: "byte", maxLength: 20 }, "bytes 20 2"],
    ["duration", { type: "string", format: "duration" }, "duration 32 3"],
    ["date", { type: "string", format: "date" }, "timestamp 12 12"],
    ["date-time", { type: "string", format: "date-time" }, "timestamp 32 21"],
    ["unknown format", { type: "string", format: "email" }, "string 3145726 2"],
    ["boolean", { type: "boolean" }, "bool - 4"],
    ["number", { type: "number" }, "double - 1"],
    ["integer", integer, "int - 1"],
    ["int or string", { "x-kubernetes-int-or-string": true }, "dyn 3145726 1"],
    ["limited int or string", { "x-kubernetes-int-or-string": true, maxLength: 3 }, "dyn 12 1"],
    ["list of booleans", array({ type: "boolean" }), "list(bool) 629145 2"],
    ["list of durations", array({ type: "string", format: "duration" }), "list(duration) 786431 2"],
    ["list of date-times", array({ type: "string", format: "date-time" }), "list(timestamp) 142987 2"],
    ["list of dates", array({ type: "string", format: "date" }), "list(timestamp) 241978 2"],
    ["list of numbers", array({ type: "number" }), "list(double) 1572863 2"],
    ["list of strings", array(string), "list(string) 1048575 2"],
    ["limited list", array(string, { maxItems: 10 }), "list(string) 10 2"],
    ["map", { type: "object", additionalProperties: string }, "map(string, string) 393215 2"],
    ["limited map", { type: "object", additionalProperties: string, maxProperties: 15 }, "map(string, string) 15 2"],
    [
      "list of objects",
      array({ type: "object", required: ["required"], properties: { required: string, optional: string } }),
      "list(T.@idx) 185042 2",
    ],
    ["list of anything", array({ "x-kubernetes-preserve-unknown-fields": true }), undefined],
    [
      "map of anything",
      { type: "object", additionalProperties: { "x-kubernetes-preserve-unknown-fields": true } },
      undefined,
    ],
    ["anything", { "x-kubernetes-preserve-unknown-fields": true }, undefined],
    ["free object", { type: "object", "x-kubernetes-preserve-unknown-fields": true }, "T - 2"],
  ])("%s", (_, schema, want) => {
    expect(described(schema)).toBe(want);
  });

  it("tell how often they may occur in a request", () => {
    const type = typeFromSchema({ type: "object", required: ["name"], properties: { name: string } } as never, {
      name: "T",
    });
    expect(type && maxCardinality(type)).toBe(Math.floor(3145728 / 13));
  });
});

const schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        "a-b": string,
        "1st": string,
        when: { type: "string", format: "date" },
        at: { type: "string", format: "date-time" },
        wait: { type: "string", format: "duration" },
        raw: { type: "string", format: "byte" },
        maybe: { type: "string", nullable: true },
        entries: { type: "object", additionalProperties: { type: "string", nullable: true } },
        hidden: { "x-kubernetes-preserve-unknown-fields": true },
        set: array(string, { "x-kubernetes-list-type": "set" }),
        other: array(string, { "x-kubernetes-list-type": "set" }),
        byKey: array(
          { type: "object", properties: { k: string, v: integer } },
          { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"] },
        ),
        embedded: { type: "object", "x-kubernetes-embedded-resource": true },
        one: { type: "object", properties: { known: string }, "x-kubernetes-preserve-unknown-fields": true },
        two: { type: "object", properties: { known: string }, "x-kubernetes-preserve-unknown-fields": true },
      },
    },
  },
};
const type = typeFromSchema(schema as never, { name: "selfType", resource: true });
const environment = celEnvironment({ variables: { self: type as Type } });
const object = {
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name: "thing", labels: { a: "b" } },
  spec: {
    "a-b": "x",
    when: "2024-01-02",
    at: "2024-01-02T03:04:05Z",
    wait: "1m",
    raw: "YWI=",
    maybe: null,
    entries: { a: null },
    set: ["a", "b"],
    other: ["b", "a"],
    byKey: [
      { k: "x", v: 1 },
      { k: "y", v: 2 },
    ],
    embedded: { apiVersion: "v1", kind: "Pod", metadata: { name: "p", generateName: "g" } },
    one: { known: "a", unknown: { x: [1] } },
    two: { unknown: { x: [1] }, known: "a" },
  },
};

describe("rules see", () => {
  it.each<[string, unknown]>([
    ["self.metadata.name + self.kind + self.apiVersion", "thingThingv1"],
    ["self.metadata.labels", "1:14: undefined field 'labels'"],
    ["self.spec.a__dash__b", "x"],
    ["self.spec.hidden", "1:10: undefined field 'hidden'"],
    ["self.spec.when == timestamp('2024-01-02T00:00:00Z')", true],
    ["self.spec.at > self.spec.when", true],
    ["self.spec.wait == duration('60s')", true],
    ["self.spec.raw == b'ab'", true],
    ["has(self.spec.maybe)", false],
    ["has(self.spec.entries.a) && self.spec.entries['a'] == dyn(null)", true],
    ["self.spec.set == self.spec.other", true],
    ["self.spec.set + ['b', 'c']", ["a", "b", "c"]],
    ["self.spec.set + ['c'] == ['c', 'b', 'a']", true],
    ["['a', 'b'] == ['b', 'a']", false],
    ["(self.spec.byKey + [self.spec.byKey[1], self.spec.byKey[0]]).map(e, e.v)", [1n, 2n]],
    ["self.spec.embedded.metadata.name", "p"],
    ["self.spec.embedded.spec", "1:19: undefined field 'spec'"],
    ["dyn(self.spec.one) == dyn(self.spec.two)", true],
    [
      "self.spec.one == self.spec.two",
      "1:15: found no matching overload for '_==_' applied to '(selfType.spec.one, selfType.spec.two)'",
    ],
    ["self.spec.one.unknown", "1:14: undefined field 'unknown'"],
    ["type(self.spec) == map", true],
  ])("%s", (text, want) => {
    const compiled = environment.compile(text);
    if (!compiled.ok) {
      expect(compiled.issues.split("\n")[0]).toBe(`ERROR: <input>:${want}`);
      return;
    }
    const result = compiled.program.evaluate({ self: object });
    expect(result.ok ? plain(result.value) : result.error).toEqual(want);
  });
});

describe("data that is not what its schema says is an error, not a crash", () => {
  it.each([
    ["self.spec.at", { at: 1 }, "invalid data, expected string, got int64"],
    ["self.spec.at", { at: "soon" }, /^Invalid date-time formatted string soon: /],
    ["self.spec.wait", { wait: "long" }, /^Invalid duration long: /],
    ["self.spec.raw", { raw: "*" }, /^Invalid byte formatted string \*: /],
    ["self.spec.set[0]", { set: [null] }, "invalid data, got null for schema with nullable=false"],
    ["self.spec.set", { set: {} }, "invalid data, expected an array for the provided schema with type=array"],
    ["self.spec.byKey[0].v", { byKey: [{ v: 1.5 }] }, "invalid data, expected int, got float64"],
    ["self.spec.entries", { entries: [] }, "invalid data, expected a map for the provided schema with type=object"],
    [
      "has(self.spec.entries)",
      { entries: [] },
      "invalid data, expected a map for the provided schema with type=object",
    ],
  ])("%s of %j", (text, spec, want) => {
    const compiled = environment.compile(text);
    const result = compiled.ok && compiled.program.evaluate({ self: { spec } as never });
    expect(result && !result.ok && result.error).toMatch(want);
  });
});
