/**
 * Definitions and objects that are made to hurt: whatever they hold, they are answered, and nothing grows beyond their
 * size.
 */
import { describe, expect, it } from "vitest";
import type { Json } from "../machinery/json/json.ts";
import type { JSONSchemaProps } from "../types/apiextensions-v1.ts";
import { compileCustomKind } from "./custom-kind.ts";
import { validateNew } from "./definition/validate.ts";
import { compileJsonPath } from "./json-path.ts";
import { NotStructuralError } from "./schema/structural.ts";
import { createFaults, definition, list, object, thing } from "./testing/definitions.ts";

function nested(depth: number, wrap: (inner: JSONSchemaProps) => JSONSchemaProps): JSONSchemaProps {
  let schema: JSONSchemaProps = object({});
  for (let i = 0; i < depth; i++) schema = wrap(schema);
  return schema;
}

const stored = { storedVersions: ["v1"], acceptedNames: { plural: "", kind: "" } };

describe("hostile input", () => {
  it("schemas that are too deep are refused in words", () => {
    const deep = definition(nested(700, (inner) => object({ a: inner })));
    const details = validateNew({ ...deep, status: stored }).map(({ detail }) => detail);
    expect(details).toContain("OpenAPIV3Schema is nested deeper than 500 levels");
    expect(() => compileCustomKind(deep, "v1")).toThrow(NotStructuralError);
    const alternatives = definition(nested(700, (inner) => ({ ...object({}), allOf: [inner] })));
    expect(() => compileCustomKind(alternatives, "v1")).toThrow(NotStructuralError);
  });

  it("defaults and rules at every level cost what their schema's size costs", () => {
    const rules = { "x-kubernetes-validations": [{ rule: "true" }] };
    const wide = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`f${i}`, { type: "string", pattern: `^${i}$` }]),
    );
    const levels = nested(200, (inner) => ({ ...object({ a: inner, ...wide }, { default: {} }), ...rules }));
    const made = definition(object({ spec: levels }));
    expect(validateNew({ ...made, status: stored }).filter(({ field }) => field.startsWith("spec.validation"))).toEqual(
      [],
    );
    expect(createFaults(compileCustomKind(made, "v1"), {})).toEqual([]);
  });

  it("patterns are matched in linear time", () => {
    const kind = thing(
      object({ a: { type: "string", pattern: "^(a+)+$" }, b: { type: "string", pattern: "(x+x+)+y" } }),
    );
    const long = "a".repeat(50_000);
    expect(createFaults(kind, { a: `${long}b`, b: "x".repeat(50_000) })).toHaveLength(2);
  });

  it("duplicates in lists are found in linear time", () => {
    const set = thing(object({ l: list({ type: "string" }, { "x-kubernetes-list-type": "set" }) }));
    const many = Array.from({ length: 100_000 }, (_, i) => `i${i}`);
    expect(createFaults(set, { l: [...many, "i7"] })).toEqual(['spec.l[100000]: Duplicate value: "i7"']);
  });

  it("each fault is reported once, however many there are", () => {
    const kind = thing(object({ l: list({ type: "string" }) }));
    expect(createFaults(kind, { l: Array.from({ length: 50_000 }, (_, i) => i) })).toHaveLength(50_000);
  });

  it("paths that multiply their results end", () => {
    let value: Json = 1;
    for (let i = 0; i < 60; i++) value = { a: value, b: [value] };
    expect(() => compileJsonPath("..a..a..a..a")(value)).toThrow("too many results");
  });

  it("keys that mean something to JavaScript are keys", () => {
    const kind = thing({ type: "object", additionalProperties: { type: "integer" } });
    const spec = JSON.parse('{"__proto__": 1, "constructor": "x", "toString": 2}') as Json;
    expect(createFaults(kind, spec)).toEqual([
      'spec.constructor: Invalid value: "string": spec.constructor in body must be of type integer: "string"',
    ]);
    expect(createFaults(thing(object({ a: { type: "string" } }, { required: ["toString"] })), {})).toEqual([
      "spec.toString: Required value",
    ]);
  });
});
