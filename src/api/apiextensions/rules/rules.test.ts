import { describe, expect, it } from "vitest";
import type { Json } from "../../machinery/json/json.ts";
import type { KubeObject } from "../../machinery/schema/object.ts";
import { create, update } from "../../testing/pure-server.ts";
import type { JSONSchemaProps, ValidationRule } from "../../types/apiextensions-v1.ts";
import { compileCustomKind } from "../custom-kind.ts";
import { createFaults, definition, object, preserving, thing, thingOf, updateFaults } from "../testing/definitions.ts";

const text = { type: "string" };
const whole = { type: "integer" };

function ruled(schema: JSONSchemaProps, ...rules: readonly (string | ValidationRule)[]): JSONSchemaProps {
  const said = rules.map((rule) => (typeof rule === "string" ? { rule } : rule));
  return { ...schema, "x-kubernetes-validations": said };
}

describe("rules", () => {
  const pair = object({ min: whole, max: whole });
  it.each<readonly [string, JSONSchemaProps, Json, readonly string[]]>([
    ["hold", ruled(pair, "self.min <= self.max"), { min: 1, max: 2 }, []],
    [
      "fail in their own words",
      ruled(pair, { rule: "self.min <= self.max", message: " no " }),
      { min: 3, max: 2 },
      ["spec: Invalid value: no"],
    ],
    [
      "or as they are",
      ruled(pair, "self.min <= self.max"),
      { min: 3, max: 2 },
      ["spec: Invalid value: failed rule: self.min <= self.max"],
    ],
    [
      "or in words made for the case",
      ruled(pair, { rule: "self.min <= self.max", messageExpression: "'min is ' + string(self.min)" }),
      { min: 3, max: 2 },
      ["spec: Invalid value: min is 3"],
    ],
    [
      "unless those cannot be made",
      ruled(pair, { rule: "self.min <= self.max", message: "no", messageExpression: "string(1 / (self.max - 2))" }),
      { min: 3, max: 2 },
      ["spec: Invalid value: no"],
    ],
    [
      "or have more than one line",
      ruled(pair, { rule: "false", message: "no", messageExpression: "'a\\nb'" }),
      {},
      ["spec: Invalid value: no"],
    ],
    [
      "at a field of their choice",
      ruled(pair, { rule: "false", message: "no", fieldPath: ".max" }),
      {},
      ["spec.max: Invalid value: no"],
    ],
    [
      "for a reason",
      ruled(pair, { rule: "false", message: "no", reason: "FieldValueForbidden" }),
      {},
      ["spec: Forbidden: no"],
    ],
    [
      "required",
      ruled(pair, { rule: "false", message: "no", reason: "FieldValueRequired" }),
      {},
      ["spec: Required value: no"],
    ],
    [
      "duplicate",
      object({ a: ruled(text, { rule: "false", message: "no", reason: "FieldValueDuplicate" }) }),
      { a: "x" },
      ['spec.a: Duplicate value: "x"'],
    ],
    [
      "scalars are shown",
      object({ a: ruled(text, { rule: "false", message: "no" }) }),
      { a: "x" },
      ['spec.a: Invalid value: "x": no'],
    ],
    ["null is not looked at", object({ a: ruled({ ...text, nullable: true }, "false") }), { a: null }, []],
    [
      "items",
      object({ l: { type: "array", items: ruled(whole, { rule: "self > 1", message: "no" }) as Json } }),
      { l: [1, 2] },
      ["spec.l[0]: Invalid value: 1: no"],
    ],
    [
      "entries",
      { type: "object", additionalProperties: ruled(whole, { rule: "self > 1", message: "no" }) as Json },
      { a: 1, b: 2 },
      ["spec[a]: Invalid value: 1: no"],
    ],
    [
      "errors are faults",
      ruled(pair, "1 / self.min == 1"),
      { min: 0 },
      ['spec: Invalid value: "object": division by zero evaluating rule: 1 / self.min == 1'],
    ],
    [
      "fields that are not there are errors",
      ruled(pair, "self.min == 1"),
      {},
      ['spec: Invalid value: "object": no such key: min evaluating rule: self.min == 1'],
    ],
    [
      "names are escaped",
      ruled(object({ "a-b": whole, namespace: text }), "self.a__dash__b == 1 && self.__namespace__ == 'x'"),
      { "a-b": 1, namespace: "x" },
      [],
    ],
  ])("%s", (_, schema, spec, want) => {
    expect(createFaults(thing(schema), spec)).toEqual(want);
  });

  it("see name and generateName of the object, and nothing else of its metadata", () => {
    const named = compileCustomKind(definition(ruled(object({ spec: preserving }), "self.metadata.name == 'b'")), "v1");
    expect(createFaults(named, {})).toEqual(["<nil>: Invalid value: failed rule: self.metadata.name == 'b'"]);
    const labelled = compileCustomKind(
      definition(ruled(object({ spec: preserving }), "has(self.metadata.labels)")),
      "v1",
    );
    expect(createFaults(labelled, {})[0]).toContain("undefined field 'labels'");
  });

  it("are not run over an object of the wrong shape", () => {
    const kind = thing(ruled(object({ a: whole, b: { ...text, pattern: "^x$" } }), "self.a > 1"));
    expect(createFaults(kind, { a: "x" })).toEqual([
      'spec.a: Invalid value: "string": spec.a in body must be of type integer: "string"',
      "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
    ]);
    expect(createFaults(kind, { a: 1, b: "y" })).toEqual([
      "spec.b: Invalid value: \"y\": spec.b in body should match '^x$'",
      "spec: Invalid value: failed rule: self.a > 1",
    ]);
  });
});

describe("rules about changes", () => {
  const fixed = object({ a: ruled(text, { rule: "self == oldSelf", message: "fixed" }), b: text });
  const list = (listType: string) =>
    object({
      l: {
        type: "array",
        "x-kubernetes-list-type": listType,
        ...(listType === "map" && { "x-kubernetes-list-map-keys": ["k"] }),
        items: object({ k: text, v: ruled(whole, { rule: "self >= oldSelf", message: "grows" }) }) as Json,
      },
    });
  const optional = object({
    a: ruled(text, { rule: "!oldSelf.hasValue() || oldSelf.value() == self", message: "fixed", optionalOldSelf: true }),
    b: text,
  });
  const once = object({ a: ruled(text, { rule: "oldSelf.hasValue()", message: "not now", optionalOldSelf: true }) });
  it.each<readonly [string, JSONSchemaProps, Json, Json, readonly string[]]>([
    ["need something to compare with", fixed, {}, { a: "x" }, []],
    ["compare", fixed, { a: "x" }, { a: "y" }, ['spec.a: Invalid value: "y": fixed']],
    ["hold", fixed, { a: "x" }, { a: "x", b: "y" }, []],
    [
      "find items by their keys",
      list("map"),
      {
        l: [
          { k: "a", v: 1 },
          { k: "b", v: 5 },
        ],
      },
      {
        l: [
          { k: "b", v: 4 },
          { k: "a", v: 2 },
        ],
      },
      ["spec.l[0].v: Invalid value: 4: grows"],
    ],
    ["may do without", optional, {}, { a: "x" }, []],
    ["or compare", optional, { a: "x" }, { a: "y" }, ['spec.a: Invalid value: "y": fixed']],
    ["or ask whether there was something", once, {}, { a: "x" }, ['spec.a: Invalid value: "x": not now']],
  ])("%s", (_, schema, before, after, want) => {
    expect(updateFaults(thing(schema), before, after)).toEqual(want);
  });

  it("are not run on create, unless they can do without", () => {
    expect(createFaults(thing(fixed), { a: "x" })).toEqual([]);
    expect(createFaults(thing(once), { a: "x" })).toEqual(['spec.a: Invalid value: "x": not now']);
  });

  it("forgive what was so before, and warn of it", () => {
    const kind = thing(object({ a: ruled(text, { rule: "self == 'x'", message: "must be x" }), b: text }));
    const old = create(kind, thingOf({ a: "old" })).object;
    const kept = update(kind, thingOf({ a: "old", b: "new" }), old);
    expect(kept.errors).toEqual([]);
    expect(kind.warnings?.(kept.object, old)).toEqual(['spec.a: Invalid value: "old": must be x']);
    const changed = update(kind, thingOf({ a: "other" }), old);
    expect(changed.errors.map(({ field }) => field)).toEqual(["spec.a"]);
    expect(kind.warnings?.(changed.object as KubeObject, old)).toEqual([]);
  });
});

describe("budgets", () => {
  const numbers = (count: number) => ({ l: Array.from({ length: count }, (_, i) => i) });
  const list = (rule: string, count = 1) =>
    object({
      l: ruled({ type: "array", items: whole }, ...Array.from({ length: count }, () => ({ rule, message: "m" }))),
    });

  it("of one rule", () => {
    const kind = thing(list("self.all(x, self.all(y, x + y >= 0))"));
    expect(createFaults(kind, numbers(3000))).toEqual([
      "spec.l: Invalid value: \"array\": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: m",
    ]);
  });

  it("of all rules of an object", () => {
    const kind = thing(list("self.all(x, self.all(y, x + y >= 0))", 40));
    expect(createFaults(kind, numbers(300)).at(-1)).toBe(
      'spec.l: Invalid value: "array": validation failed due to running out of cost budget, no further validation rules will be run',
    );
  });
});
