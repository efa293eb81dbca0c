import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { at, fieldErrorText } from "../../machinery/errors/field-error.ts";
import type { Json } from "../../machinery/json/json.ts";
import type { JSONSchemaProps } from "../../types/apiextensions-v1.ts";
import { Report } from "./check.ts";
import { compileFaults, compileValues } from "./compile.ts";

interface Row {
  readonly schema: JSONSchemaProps;
  readonly value: Json;
  readonly want: readonly string[];
}

function field(schema: JSONSchemaProps, value: Json, ...want: readonly string[]): Row {
  return { schema: { type: "object", properties: { x: schema } }, value: { x: value }, want };
}

const typed = (type: string, found: string) =>
  `x: Invalid value: "${found}": x in body must be of type ${type}: "${found}"`;
const text = { type: "string" };
const whole = { type: "integer" };

const rows: Readonly<Record<string, readonly Row[]>> = {
  types: [
    field(text, "a"),
    field(text, 1, typed("string", "integer")),
    field(text, 1.5, typed("string", "number")),
    field(text, null, typed("string", "null")),
    field({ ...text, nullable: true }, null),
    field(whole, 1),
    field(whole, true, typed("integer", "boolean")),
    field(
      whole,
      1.5,
      typed("integer", "number"),
      '<nil>: Invalid value: "": Checked value must be of type integer (default format) in x',
    ),
    field({ type: "number" }, 1),
    field({ type: "number" }, 1.5),
    field({ type: "boolean" }, "true", typed("boolean", "string")),
    field({ type: "array", items: {} }, {}, typed("array", "object")),
    field({ type: "object" }, [], typed("object", "array")),
    field({ "x-kubernetes-int-or-string": true }, 1),
    field({ "x-kubernetes-int-or-string": true }, "1"),
    field({ "x-kubernetes-int-or-string": true }, true, typed("integer,string", "boolean")),
    field({ "x-kubernetes-preserve-unknown-fields": true }, [1, { a: null }]),
    field(
      { ...whole, format: "int32" },
      2 ** 31,
      '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in x',
    ),
    field({ ...text, format: "date" }, 5, 'x: Invalid value: "int64": x in body must be of type date: "int64"'),
  ],
  strings: [
    field({ ...text, maxLength: 2 }, "äöü", "x: Too long: may not be more than 2 bytes"),
    field({ ...text, maxLength: 1 }, "😀"),
    field({ ...text, minLength: 2 }, "😀", 'x: Invalid value: "😀": x in body should be at least 2 chars long'),
    field({ ...text, pattern: "^a+$" }, "ab", "x: Invalid value: \"ab\": x in body should match '^a+$'"),
    field({ ...text, pattern: "b" }, "abc"),
    field({ ...text, maxLength: 1, pattern: "^a+$" }, "bb", "x: Too long: may not be more than 1 bytes"),
    field({ ...text, format: "ipv4" }, "1.2.3", 'x: Invalid value: "1.2.3": x in body must be of type ipv4: "1.2.3"'),
    field({ ...text, format: "no-such" }, "1.2.3"),
  ],
  numbers: [
    field({ ...whole, minimum: 1 }, 0, "x: Invalid value: 0: x in body should be greater than or equal to 1"),
    field(
      { ...whole, minimum: 1, exclusiveMinimum: true },
      1,
      "x: Invalid value: 1: x in body should be greater than 1",
    ),
    field({ ...whole, maximum: 1 }, 2, "x: Invalid value: 2: x in body should be less than or equal to 1"),
    field({ ...whole, maximum: 1, exclusiveMaximum: true }, 1, "x: Invalid value: 1: x in body should be less than 1"),
    field(
      { type: "number", maximum: 1.5 },
      1.6,
      "x: Invalid value: 1.6: x in body should be less than or equal to 1.5",
    ),
    field({ ...whole, multipleOf: 3 }, 4, "x: Invalid value: 4: x in body should be a multiple of 3"),
    field({ ...whole, multipleOf: 3 }, 6),
    field({ type: "number", multipleOf: 0.1 }, 0.3),
    field(
      { type: "number", multipleOf: 0.5 },
      1,
      "x: Invalid value: 0: factor MultipleOf declared for x must be positive: 0",
    ),
    field(
      { ...whole, maximum: 1.5 },
      1,
      '<nil>: Invalid value: "": Maximum boundary value must be of type integer (default format) in x',
    ),
  ],
  "allowed values": [
    field({ ...text, enum: ["a", "b"] }, "c", 'x: Unsupported value: "c": supported values: "a", "b"'),
    field({ ...whole, enum: [1, 2] }, 2),
    field({ type: "object", enum: [{ a: 1, b: 2 }] }, { b: 2, a: 1 }),
    field({ ...whole, enum: [1, 2] }, 3, 'x: Unsupported value: 3: supported values: "1", "2"'),
  ],
  lists: [
    field(
      { type: "array", items: text },
      [1],
      'x[0]: Invalid value: "integer": x[0] in body must be of type string: "integer"',
    ),
    field(
      { type: "array", items: text, minItems: 1 },
      [],
      "x: Invalid value: 0: x in body should have at least 1 items",
    ),
    field({ type: "array", items: text, maxItems: 1 }, ["a", "b"], "x: Too many: 2: must have at most 1 item"),
    field(
      { type: "array", items: {}, uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      'x: Invalid value: "": x in body shouldn\'t contain duplicates',
    ),
  ],
  objects: [
    field({ type: "object", required: ["a"] }, {}, "x.a: Required value"),
    field({ type: "object", minProperties: 1 }, {}, "x: Invalid value: 0: x in body should have at least 1 properties"),
    field({ type: "object", maxProperties: 1 }, { a: 1, b: 1 }, "x: Too many: 2: must have at most 1 item"),
    field(
      { type: "object", additionalProperties: whole },
      { a: "x" },
      'x.a: Invalid value: "string": x.a in body must be of type integer: "string"',
    ),
    field(
      { type: "object", additionalProperties: false },
      { a: "x" },
      'x: Invalid value: "a": x.a in body is a forbidden property',
    ),
    { schema: { type: "object", required: ["spec"] }, value: {}, want: ["spec: Required value"] },
    { schema: text, value: 5, want: ['<nil>: Invalid value: "integer":  in body must be of type string: "integer"'] },
  ],
  combinations: [
    field(
      { ...whole, anyOf: [{ maximum: 1 }, { minimum: 10 }] },
      5,
      '<nil>: Invalid value: "": "x" must validate at least one schema (anyOf)',
      "x: Invalid value: 5: x in body should be less than or equal to 1",
    ),
    field({ ...whole, anyOf: [{ maximum: 1 }, { minimum: 10 }] }, 12),
    field(
      { ...whole, oneOf: [{ minimum: 1 }, { minimum: 10 }] },
      12,
      '<nil>: Invalid value: "": "x" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ),
    field(
      { ...whole, oneOf: [{ minimum: 1 }, { minimum: 10 }] },
      0,
      '<nil>: Invalid value: "": "x" must validate one and only one schema (oneOf). Found none valid',
      "x: Invalid value: 0: x in body should be greater than or equal to 1",
    ),
    field(
      { ...whole, allOf: [{ minimum: 1 }, { minimum: 10 }] },
      5,
      "x: Invalid value: 5: x in body should be greater than or equal to 10",
      '<nil>: Invalid value: "": "x" must validate all the schemas (allOf)',
    ),
    field(
      { ...whole, allOf: [{ minimum: 10 }] },
      5,
      "x: Invalid value: 5: x in body should be greater than or equal to 10",
      '<nil>: Invalid value: "": "x" must validate all the schemas (allOf). None validated',
    ),
    field({ ...whole, not: { minimum: 10 } }, 12, '<nil>: Invalid value: "": "x" must not validate the schema (not)'),
    // The alternative that got further is reported: the second has one required field.
    field(
      { type: "object", oneOf: [{ required: ["a", "b"] }, { required: ["a"], properties: { c: whole } }] },
      { c: 1 },
      '<nil>: Invalid value: "": "x" must validate one and only one schema (oneOf). Found none valid',
      "x.a: Required value",
    ),
    // Duplicate faults are reported once.
    field(
      { type: "object", required: ["a"], allOf: [{ required: ["a"] }] },
      {},
      "x.a: Required value",
      '<nil>: Invalid value: "": "x" must validate all the schemas (allOf). None validated',
    ),
  ],
};

describe("limits on values", () => {
  for (const [name, table] of Object.entries(rows)) {
    it.each(table)(`${name}: $schema.properties.x $value`, ({ schema, value, want }) => {
      expect(compileFaults(schema)(value, at(), undefined).map(fieldErrorText)).toEqual(want);
    });
  }

  it("puts the caller's path before its own", () => {
    const faults = compileFaults({ type: "object", required: ["a"], not: {} })({}, at("status"), undefined);
    expect(faults.map(({ field: path }) => path)).toEqual(["status", "status.a"]);
  });

  it("finds something to report exactly where the quick check fails", () => {
    const scalar = fc.oneof(
      fc.integer({ min: -3, max: 12 }),
      fc.constantFrom("", "a", "ab", "abc"),
      fc.boolean(),
      fc.constant(null),
    );
    const values = fc.oneof(
      scalar,
      fc.array(scalar, { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("a", "b", "c"), scalar, { maxKeys: 3 }),
    );
    const limits = fc.record(
      {
        type: fc.constantFrom("string", "integer", "object", "array"),
        nullable: fc.boolean(),
        minimum: fc.integer({ min: 0, max: 5 }),
        maxLength: fc.integer({ min: 0, max: 3 }),
        enum: fc.array(scalar, { minLength: 1, maxLength: 3 }),
        required: fc.subarray(["a", "b"]),
        maxItems: fc.integer({ min: 0, max: 2 }),
        minProperties: fc.integer({ min: 0, max: 2 }),
      },
      { requiredKeys: [] },
    );
    const schemas = fc.record(
      {
        type: fc.constantFrom("string", "integer", "object", "array"),
        properties: fc.dictionary(fc.constantFrom("a", "b"), limits),
        items: limits,
        anyOf: fc.array(limits, { minLength: 1, maxLength: 2 }),
        oneOf: fc.array(limits, { minLength: 1, maxLength: 2 }),
        allOf: fc.array(limits, { minLength: 1, maxLength: 2 }),
        not: limits,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(schemas, values, (schema, value) => {
        const check = compileValues(schema as JSONSchemaProps);
        const report = new Report("", undefined);
        const valid = check?.(value as Json, report) ?? true;
        expect(valid).toBe(check?.(value as Json, undefined) ?? true);
        expect(report.faults.length === 0).toBe(valid);
      }),
      { numRuns: 500 },
    );
  });
});
