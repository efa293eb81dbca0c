/**
 * Compiles a JSON schema to one check.
 *
 * 1. The steps of a check run in a fixed order, which is the order of the faults: type, combinations, text, format,
 *    number, list, allowed values, object.
 * 2. A node without limits compiles to nothing and is not walked.
 */
import type { FieldError, FieldPath } from "../../machinery/errors/field-error.ts";
import { isObject, type Json } from "../../machinery/json/json.ts";
import { type Memo, memoized } from "../../machinery/schema/memo.ts";
import type { JSONSchemaProps } from "../../types/apiextensions-v1.ts";
import type { Correlation } from "../schema/correlation.ts";
import { type Check, fieldErrorsOf, kindOf, Report, type ValueKind } from "./check.ts";
import { combinationsCheck } from "./combinations.ts";
import { listCheck, objectCheck } from "./container-checks.ts";
import { isKnownFormat } from "./formats.ts";
import { enumCheck, formatCheck, numberCheck, stringCheck } from "./scalar-checks.ts";
import { typeCheck } from "./type-check.ts";

/** The faults of a value. Given the value that it replaces, faults of unchanged parts are ignored. */
export type ValueFaults = (value: Json, at: FieldPath, correlation: Correlation | undefined) => readonly FieldError[];

/** Shared when many parts of one schema are compiled. */
export type CheckMemo = Memo<JSONSchemaProps, Check | undefined>;

export function compileFaults(schema: JSONSchemaProps, memo?: CheckMemo): ValueFaults {
  const check = compileValues(schema, memo);
  if (check === undefined) return () => [];
  return (value, at, correlation) => {
    if (check(value, undefined)) return [];
    const report = new Report("", correlation);
    if (check(value, report) || correlation?.unchanged) return [];
    return fieldErrorsOf(report, at);
  };
}

/** Undefined if every value is valid. */
export function compileValues(schema: JSONSchemaProps, memo?: CheckMemo): Check | undefined {
  return memoized(memo, schema, () => compileNode(schema, memo));
}

interface Step {
  readonly check: Check;
  /** The kind of values that it applies to; undefined: all. */
  readonly kind: ValueKind | undefined;
  /** Only the type and the allowed values are checked for null. */
  readonly ofNull: boolean;
}

function compileNode(schema: JSONSchemaProps, memo: CheckMemo | undefined): Check | undefined {
  const types =
    schema["x-kubernetes-int-or-string"] === true ? ["integer", "string"] : schema.type ? [schema.type] : [];
  const type = types.length === 1 ? (types[0] ?? "") : "";
  const format = schema.format && isKnownFormat(schema.format, type) ? schema.format : "";
  const textFormat = formatCheck(format);
  const steps: Step[] = [];
  const add = (check: Check | undefined, kind?: ValueKind, ofNull = false): void => {
    if (check !== undefined) steps.push({ check, kind, ofNull });
  };
  add(typeCheck({ types, nullable: schema.nullable === true, format }), undefined, true);
  add(combinationsOf(schema, memo));
  add(stringCheck(schema), "string");
  add(textFormat, "string");
  add(numberCheck(schema, type, format), "number");
  add(listCheck(schema, itemCheck(schema, memo)), "list");
  add(enumCheck(schema.enum), undefined, true);
  add(objectCheck(schema, objectParts(schema, memo)), "object");
  if (steps.length === 0) return undefined;

  const typed = types.length > 0 || format !== "";
  return (value, report) => {
    const kind = kindOf(value);
    let valid = true;
    for (let i = 0; i < steps.length; i++) {
      const { check, kind: only, ofNull } = steps[i] as Step;
      if (kind === "null" ? !ofNull : only !== undefined && only !== kind) continue;
      if (check(value, report)) continue;
      if (report === undefined) return false;
      valid = false;
    }
    if (report !== undefined) report.matches += matchesOf(kind, typed, textFormat !== undefined);
    return valid;
  };
}

/**
 * How Kubernetes counts matches: every validator that applies to a value, even without limits. See `Report.matches`.
 */
function matchesOf(kind: ValueKind, typed: boolean, formatted: boolean): number {
  const common = (typed ? 1 : 0) + 4;
  switch (kind) {
    case "null":
      return 0;
    case "string":
      return common + (formatted ? 2 : 1);
    case "number":
    case "list":
      return common + 2;
    case "object":
      return common + 1;
    case "boolean":
      return common;
  }
}

const anything: Check = (value, report) => {
  if (report !== undefined) report.matches += matchesOf(kindOf(value), false, false);
  return true;
};

function combinationsOf(schema: JSONSchemaProps, memo: CheckMemo | undefined): Check | undefined {
  const { allOf = [], anyOf = [], oneOf = [], not } = schema;
  const compiled = (inner: JSONSchemaProps): Check => compileValues(inner, memo) ?? anything;
  return combinationsCheck({
    allOf: allOf.map(compiled),
    anyOf: anyOf.map(compiled),
    oneOf: oneOf.map(compiled),
    not: not && compiled(not),
  });
}

function itemCheck({ items }: JSONSchemaProps, memo: CheckMemo | undefined): Check | undefined {
  return isObject(items) ? compileValues(items as JSONSchemaProps, memo) : undefined;
}

function objectParts({ properties = {}, additionalProperties }: JSONSchemaProps, memo: CheckMemo | undefined) {
  const isMap = isObject(additionalProperties);
  return {
    properties: new Map(Object.entries(properties).map(([name, property]) => [name, compileValues(property, memo)])),
    additional: isMap ? compileValues(additionalProperties as JSONSchemaProps, memo) : undefined,
    closed: additionalProperties === false,
  };
}
