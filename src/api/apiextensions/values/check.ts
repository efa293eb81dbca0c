/**
 * Limits on values, compiled once into closures.
 *
 *     check(value)            is it valid? Stops at the first fault, allocates nothing.
 *     check(value, report)    what is wrong with it? Goes through all of it, in the order in which Kubernetes does.
 *
 * 1. Paths are written as OpenAPI validation writes them: `spec.tags[0]`, "" for the value as a whole. The caller's own
 *    path comes before them.
 * 2. Faults that read the same are reported once, and no more of them than are printed.
 * 3. `matches` counts what was found in order: of several alternatives that all fail, the one that got furthest is
 *    reported.
 */

import { type FieldError, type FieldErrorType, FieldPath } from "../../machinery/errors/field-error.ts";
import type { Json } from "../../machinery/json/json.ts";
import { MAX_PRINTED } from "../../machinery/json/printed.ts";
import type { Correlation } from "../schema/correlation.ts";

export type Check = (value: Json, report: Report | undefined) => boolean;

export type ValueKind = "null" | "boolean" | "number" | "string" | "list" | "object";

export function kindOf(value: Json): ValueKind {
  if (value === null) return "null";
  switch (typeof value) {
    case "boolean":
      return "boolean";
    case "number":
    case "bigint":
      return "number";
    case "string":
      return "string";
    default:
      return Array.isArray(value) ? "list" : "object";
  }
}

export interface Fault {
  readonly type: FieldErrorType;
  /** Undefined: the fault belongs to the value as a whole, whatever part of it is at fault. */
  readonly path: string | undefined;
  readonly badValue: Json | undefined;
  readonly detail: string;
  /** Two faults with the same text are one. */
  readonly text: string;
}

export class Report {
  readonly faults: Fault[] = [];
  matches = 0;
  path: string;
  /** The correlation with the old value, as far as there is one: faults of unchanged parts are ignored. */
  correlation: Correlation | undefined;

  constructor(path: string, correlation: Correlation | undefined) {
    this.path = path;
    this.correlation = correlation;
  }

  /** Adds a fault of the current value. Returns false, as checks do. */
  fault(type: FieldErrorType, badValue: Json | undefined, detail: string, text = detail): false {
    this.faults.push({ type, path: this.path, badValue, detail, text });
    return false;
  }

  /** Adds a fault of the value as a whole. */
  overall(text: string): false {
    this.faults.push({ type: "FieldValueInvalid", path: undefined, badValue: "", detail: text, text });
    return false;
  }

  /** A report for one of several alternatives. */
  branch(): Report {
    return new Report(this.path, this.correlation);
  }

  merge({ faults, matches }: Report): void {
    this.faults.push(...faults);
    this.matches += matches;
  }
}

export function fieldErrorsOf({ faults }: Report, at: FieldPath): readonly FieldError[] {
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  let printed = 0;
  for (const { type, path, badValue, detail, text } of faults) {
    // Before it is compared: the text of a long path is put together only then.
    printed += text.length;
    if (printed > MAX_PRINTED && errors.length > 0) break;
    if (seen.has(text)) continue;
    seen.add(text);
    const name = path?.replace(/^\./, "") ?? "";
    const field = (name === "" ? at : new FieldPath(at, name, "child")).toString();
    errors.push(badValue === undefined ? { type, field, detail } : { type, field, badValue, detail });
  }
  return errors;
}
