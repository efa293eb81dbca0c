/** Limits on strings and numbers, and lists of allowed values. */
import { equalJson } from "../../machinery/json/equal.ts";
import { goFloat, goJson, goQuote } from "../../machinery/json/go-text.ts";
import { compareInt64, isInt64 } from "../../machinery/json/int64.ts";
import type { Int64, Json } from "../../machinery/json/json.ts";
import { once } from "../../machinery/schema/memo.ts";
import type { JSONSchemaProps } from "../../types/apiextensions-v1.ts";
import { compilePattern } from "../schema/pattern.ts";
import type { Check, Report } from "./check.ts";
import { formatTest } from "./formats.ts";

/** Only the first of several faults is reported. */
export function stringCheck({ maxLength, minLength, pattern }: JSONSchemaProps): Check | undefined {
  if (maxLength === undefined && minLength === undefined && !pattern) return undefined;
  // Patterns are expensive to compile, and many are never used.
  const compiled = pattern ? once(() => compilePattern(pattern)) : undefined;
  return (value, report) => {
    const text = value as string;
    if (maxLength !== undefined && text.length > maxLength && lengthOf(text) > maxLength) {
      if (report === undefined) return false;
      const why = `${report.path} in body should be at most ${maxLength} chars long`;
      return report.fault("FieldValueTooLong", undefined, `may not be more than ${maxLength} bytes`, why);
    }
    if (minLength !== undefined && text.length / 2 < minLength && lengthOf(text) < minLength)
      return refused(report, text, `should be at least ${minLength} chars long`);
    if (compiled === undefined || compiled().test(text)) return true;
    return refused(report, text, `should match '${shownPattern(pattern ?? "", compiled().fault)}'`);
  };
}

/** In characters, not in UTF-16 code units. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

function shownPattern(pattern: string, fault: string | undefined): string {
  return fault === undefined ? pattern : `${pattern}, but pattern is invalid: ${fault}`;
}

export function formatCheck(format: string): Check | undefined {
  const test = formatTest(format);
  if (test === undefined) return undefined;
  return (value, report) => {
    const text = value as string;
    if (test(text)) return true;
    if (report === undefined) return false;
    const why = `${report.path} in body must be of type ${format}: ${goQuote(text)}`;
    return report.fault("FieldValueTypeInvalid", text, why);
  };
}

interface Limit {
  readonly bound: number;
  readonly exclusive: boolean;
  readonly sign: 1 | -1;
  readonly words: string;
  readonly name: string;
}

/** `type` and `format` where there is only one type. */
export function numberCheck(schema: JSONSchemaProps, type: string, format: string): Check | undefined {
  const { multipleOf, minimum, maximum, exclusiveMinimum = false, exclusiveMaximum = false } = schema;
  const limits: Limit[] = [];
  if (minimum !== undefined)
    limits.push({
      bound: minimum,
      exclusive: exclusiveMinimum,
      sign: 1,
      words: exclusiveMinimum ? "should be greater than" : "should be greater than or equal to",
      name: "Minimum boundary",
    });
  if (maximum !== undefined)
    limits.push({
      bound: maximum,
      exclusive: exclusiveMaximum,
      sign: -1,
      words: exclusiveMaximum ? "should be less than" : "should be less than or equal to",
      name: "Maximum boundary",
    });
  const range = rangeOf(type, format);
  if (limits.length === 0 && multipleOf === undefined && range === undefined) return undefined;
  return (value, report) => {
    const number = value as Int64;
    let valid = range === undefined || range.holds(number) || outside(report, "Checked", range.words);
    if (!valid && report === undefined) return false;
    if (multipleOf !== undefined) {
      const fits = range === undefined || range.holds(multipleOf) || outside(report, "MultipleOf", range.words);
      valid = multipleFits(number, multipleOf, fits, report) && fits && valid;
      if (!valid && report === undefined) return false;
    }
    for (const limit of limits) {
      const fits = range === undefined || range.holds(limit.bound) || outside(report, limit.name, range.words);
      valid = limitHolds(number, limit, fits, report) && fits && valid;
      if (!valid && report === undefined) return false;
    }
    return valid;
  };
}

interface Range {
  holds(value: Int64): boolean;
  readonly words: string;
}

function rangeOf(type: string, format: string): Range | undefined {
  const words = `value must be of type ${type} ${format === "" ? "(default format)" : `with format ${format}`}`;
  if (type === "integer") {
    const limit = format === "int32" ? 2 ** 31 : 2 ** 63;
    return { holds: (value) => isWholeNumber(value) && value >= -limit && value < limit, words };
  }
  if (type === "number" && format === "float")
    return { holds: (value) => Number.isFinite(Math.fround(Number(value))), words };
  return undefined;
}

function isWholeNumber(value: Int64): boolean {
  return typeof value === "bigint" || Number.isInteger(value);
}

function outside(report: Report | undefined, what: string, words: string): false {
  return report === undefined ? false : report.overall(`${what} ${words} in ${report.path}`);
}

/** Integers are compared with the whole part of a bound, other numbers with the bound itself. */
function native(value: Int64, bound: number, fits: boolean): number {
  return fits && isInt64(value) ? Math.trunc(bound) : bound;
}

function boundText(value: Int64, bound: number, fits: boolean): string {
  return fits && isInt64(value) ? String(BigInt(bound)) : goFloat(bound);
}

function limitHolds(value: Int64, limit: Limit, fits: boolean, report: Report | undefined): boolean {
  const bound = native(value, limit.bound, fits);
  const order = compareInt64(value, bound) * limit.sign;
  if (limit.exclusive ? order > 0 : order >= 0) return true;
  return refused(report, value, `${limit.words} ${boundText(value, bound, fits)}`);
}

function multipleFits(value: Int64, multipleOf: number, fits: boolean, report: Report | undefined): boolean {
  const factor = native(value, multipleOf, fits);
  if (factor <= 0) {
    if (report === undefined) return false;
    const why = `factor MultipleOf declared for ${report.path} must be positive: ${boundText(value, factor, fits)}`;
    return report.fault("FieldValueInvalid", factor, why);
  }
  const why = () => `should be a multiple of ${boundText(value, factor, fits)}`;
  if (fits && isInt64(value)) return isMultiple(value, factor) || refused(report, value, why());
  const times = factor < 1 ? (1 / factor) * Number(value) : Number(value) / factor;
  return isWhole(times) || refused(report, value, why());
}

function isMultiple(value: Int64, factor: number): boolean {
  return typeof value === "bigint" ? value % BigInt(factor) === 0n : value % factor === 0;
}

/** Within the precision of floating point. */
function isWhole(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  const whole = Math.trunc(value);
  if (value === whole) return true;
  const difference = Math.abs(value - whole);
  return value === 0 || whole === 0
    ? difference < 1e-9 * Number.MIN_VALUE
    : difference / Math.min(Math.abs(value) + Math.abs(whole), Number.MAX_VALUE) < 1e-9;
}

export function enumCheck(values: readonly Json[] | undefined): Check | undefined {
  if (values === undefined || values.length === 0) return undefined;
  const scalars = new Set<Json>(values.filter((value) => typeof value !== "object"));
  const others = values.filter((value) => typeof value === "object" && value !== null);
  const shown = values.map((value) => (typeof value === "string" ? value : goJson(value)));
  const detail = `supported values: ${shown.map(goQuote).join(", ")}`;
  return (value, report) => {
    if (scalars.has(value) || others.some((other) => equalJson(value, other))) return true;
    return report === undefined
      ? false
      : report.fault("FieldValueNotSupported", value, detail, `${report.path} ${detail}`);
  };
}

function refused(report: Report | undefined, value: Json, words: string): false {
  return report === undefined ? false : report.fault("FieldValueInvalid", value, `${report.path} in body ${words}`);
}
