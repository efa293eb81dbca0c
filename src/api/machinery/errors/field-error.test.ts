import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { recordedFiles, recordings } from "../../testing/recordings.ts";
import { goQuote } from "../json/go-text.ts";
import { isObject, type Json, type JsonObject } from "../json/json.ts";
import * as field from "./field-error.ts";
import { at } from "./field-path.ts";
import { toStatus } from "./status.ts";

const path = at("spec").child("x");

describe("field paths", () => {
  it.each([
    [at("spec").child("containers").index(0).child("env").key("A"), "spec.containers[0].env[A]"],
    [at("metadata", "name"), "metadata.name"],
    [at(), "<nil>"],
    [at().index(3), "[3]"],
    [at().child("spec"), "spec"],
    [at().key("a").child("b"), "[a].b"],
  ])("writes %s", (given, want) => expect(given.toString()).toBe(want));
});

describe("field errors", () => {
  it("are put together in order, and are nothing where there are none", () => {
    const [first, second, third] = ["a", "b", "c"].map((name) => field.required(name)) as [
      field.FieldError,
      field.FieldError,
      field.FieldError,
    ];
    expect(field.allErrors([], [first], field.NO_ERRORS, [second, third])).toEqual([first, second, third]);
    expect(field.allErrors([], field.NO_ERRORS)).toEqual([]);
  });

  it.each([
    [field.required(path), "spec.x: Required value"],
    [field.required(path, "be there"), "spec.x: Required value: be there"],
    [field.required("metadata.name", "be there"), "metadata.name: Required value: be there"],
    [field.invalid(path, 'a"b', "no"), 'spec.x: Invalid value: "a\\"b": no'],
    [field.invalid(path, -1, "no"), "spec.x: Invalid value: -1: no"],
    [field.invalid(path, true, "no"), "spec.x: Invalid value: true: no"],
    [field.invalid(path, null, "no"), "spec.x: Invalid value: null: no"],
    [field.invalid(path, { a: { b: "<" } }, "no"), 'spec.x: Invalid value: {"a":{"b":"\\u003c"}}: no'],
    [field.invalid(path, ["v9"], "no"), 'spec.x: Invalid value: ["v9"]: no'],
    [field.invalid(path, undefined, "no"), "spec.x: Invalid value: no"],
    [field.immutable(path, "a"), 'spec.x: Invalid value: "a": field is immutable'],
    [field.notSupported(path, "X", ["b", "a"]), 'spec.x: Unsupported value: "X": supported values: "b", "a"'],
    [field.notSupported(path, "X", []), 'spec.x: Unsupported value: "X"'],
    [field.duplicate(path, "a"), 'spec.x: Duplicate value: "a"'],
    [field.forbidden(path, "no"), "spec.x: Forbidden: no"],
    [field.tooLong(path, 63), "spec.x: Too long: may not be more than 63 bytes"],
    [field.tooLong(path, -1), "spec.x: Too long: value is too long"],
    [field.tooMany(path, 4, 3), "spec.x: Too many: 4: must have at most 3 items"],
    [field.tooMany(path, 2, 1), "spec.x: Too many: 2: must have at most 1 item"],
    [field.tooMany(path, -1, -1), "spec.x: Too many: has too many items"],
    [field.notFound(path, "a"), 'spec.x: Not found: "a"'],
    [field.typeInvalid(path, "string", "no"), 'spec.x: Invalid value: "string": no'],
    [field.internal(path, "boom"), "spec.x: Internal error: boom"],
  ])("reads %s", (error, want) => expect(field.fieldErrorText(error)).toBe(want));

  it("are printed up to the size of a request", () => {
    const value = "x".repeat(1024 * 1024);
    const errors = Array.from({ length: 100 }, (_, i) => field.invalid(at("a").index(i), value, "why"));
    const { message, details } = field.invalidStatus({ group: "", kind: "Pod" }, "p", errors);
    expect(details?.causes).toHaveLength(3);
    expect(message).toContain("a[2]: Invalid value");
    expect(message).not.toContain("a[3]");
  });

  it("fold into one status, equal ones once", () => {
    const errors = [field.required("spec.a"), field.required("spec.a"), field.duplicate("spec.b", 1)];
    expect(toStatus(field.invalidStatus({ group: "apps", kind: "Deployment" }, "d", errors))).toMatchObject({
      code: 422,
      reason: "Invalid",
      message: 'Deployment.apps "d" is invalid: [spec.a: Required value, spec.b: Duplicate value: 1]',
      details: {
        name: "d",
        group: "apps",
        kind: "Deployment",
        causes: [
          { reason: "FieldValueRequired", message: "Required value", field: "spec.a" },
          { reason: "FieldValueRequired", message: "Required value", field: "spec.a" },
          { reason: "FieldValueDuplicate", message: "Duplicate value: 1", field: "spec.b" },
        ],
      },
    });
    expect(field.invalidStatus({ group: "", kind: "Pod" }, "x", [field.required("spec.foo")]).message).toBe(
      'Pod "x" is invalid: spec.foo: Required value',
    );
  });
});

const golden = recordings("oracle/golden/");

describe.skipIf(!existsSync(golden))("refusals of a real server", () => {
  const refusals = recordedFiles("oracle/golden/").flatMap((file) =>
    invalidIn(JSON.parse(readFileSync(new URL(file, golden), "utf8"))),
  );

  it("tell their causes in the message as we do", () => {
    expect(refusals.length).toBeGreaterThan(200);
    for (const { message, details } of refusals) {
      const { kind = "", group = "", name = "", causes } = details as unknown as Details;
      const texts = causes.map((cause) => `${cause.field}: ${cause.message}`);
      const subject = group === "" ? kind : `${kind}.${group}`;
      expect(message).toBe(`${subject} ${goQuote(name)} is invalid: ${field.aggregate(texts)}`);
    }
  });
});

interface Details {
  readonly kind?: string;
  readonly group?: string;
  readonly name?: string;
  readonly causes: readonly { readonly field: string; readonly message: string }[];
}

function invalidIn(value: Json): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(invalidIn);
  if (!isObject(value)) return [];
  return isTold(value) ? [value] : Object.values(value).flatMap(invalidIn);
}

/** Where causes come in any order, the recording says so instead of a message; where they are too long, it has none. */
function isTold({ reason, message, details }: JsonObject): boolean {
  if (reason !== "Invalid" || typeof message !== "string" || message.includes("<the causes in any order>"))
    return false;
  if (!isObject(details) || !Array.isArray(details.causes)) return false;
  return details.causes.every((cause: Json) => isObject(cause) && "field" in cause);
}
