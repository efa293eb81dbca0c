/**
 * Field errors of validation, and the 422 that they make together.
 *
 * 1. An error prints its value as Kubernetes does: strings quoted, numbers and booleans plain, everything else as JSON.
 * 2. Errors with the same text appear once in the message, and each in the causes.
 * 3. Errors are printed up to a total length: see `printed.ts`. Each may show a whole list, or all values that it
 *    allows.
 */

import { goJson, goNumber, goQuote } from "../json/go-text.ts";
import type { Json } from "../json/json.ts";
import { MAX_PRINTED } from "../json/printed.ts";
import { FieldPath } from "./field-path.ts";
import { StatusError } from "./status.ts";
import { type GroupKind, kindName } from "./status-errors.ts";

export { at, FieldPath } from "./field-path.ts";

const words = {
  FieldValueNotFound: "Not found",
  FieldValueRequired: "Required value",
  FieldValueDuplicate: "Duplicate value",
  FieldValueInvalid: "Invalid value",
  FieldValueNotSupported: "Unsupported value",
  FieldValueForbidden: "Forbidden",
  FieldValueTooLong: "Too long",
  FieldValueTooMany: "Too many",
  InternalError: "Internal error",
  FieldValueTypeInvalid: "Invalid value",
} as const;

export type FieldErrorType = keyof typeof words;

export interface FieldError {
  readonly type: FieldErrorType;
  readonly field: string;
  /** Absent where the message does not show it. */
  readonly badValue?: Json;
  readonly detail: string;
}

/** Names are not split: `metadata.name` stays as it is. */
export type Where = FieldPath | string;

/** The result of most checks: one shared empty list. */
export const NO_ERRORS: readonly FieldError[] = [];

/** Concatenates errors in the order given. */
export function allErrors(...lists: readonly (readonly FieldError[])[]): readonly FieldError[] {
  return lists.flat();
}

export function required(where: Where, detail = ""): FieldError {
  return fieldError("FieldValueRequired", where, undefined, detail);
}

/** Without the value, where it is too big to be shown. */
export function invalid(where: Where, badValue: Json | undefined, detail: string): FieldError {
  return fieldError("FieldValueInvalid", where, badValue, detail);
}

export function immutable(where: Where, badValue: Json): FieldError {
  return invalid(where, badValue, "field is immutable");
}

/** The values are listed as given; Kubernetes sorts where its own list is a set. */
export function notSupported(where: Where, badValue: Json, supported: readonly string[]): FieldError {
  const detail = supported.length === 0 ? "" : `supported values: ${supported.map(goQuote).join(", ")}`;
  return fieldError("FieldValueNotSupported", where, badValue, detail);
}

export function duplicate(where: Where, badValue: Json): FieldError {
  return fieldError("FieldValueDuplicate", where, badValue, "");
}

export function forbidden(where: Where, detail: string): FieldError {
  return fieldError("FieldValueForbidden", where, undefined, detail);
}

export function tooLong(where: Where, maxBytes: number): FieldError {
  const detail = maxBytes < 0 ? "value is too long" : `may not be more than ${maxBytes} bytes`;
  return fieldError("FieldValueTooLong", where, undefined, detail);
}

export function tooMany(where: Where, count: number, max: number): FieldError {
  const detail = max < 0 ? "has too many items" : `must have at most ${max} ${max === 1 ? "item" : "items"}`;
  return fieldError("FieldValueTooMany", where, count < 0 ? undefined : count, detail);
}

/** An object that is referred to does not exist. */
export function notFound(where: Where, badValue: Json): FieldError {
  return fieldError("FieldValueNotFound", where, badValue, "");
}

export function typeInvalid(where: Where, badValue: Json, detail: string): FieldError {
  return fieldError("FieldValueTypeInvalid", where, badValue, detail);
}

export function internal(where: Where, why: string): FieldError {
  return fieldError("InternalError", where, undefined, why);
}

/** `Required value: name or generateName is required`. */
export function fieldErrorBody({ type, badValue, detail }: FieldError): string {
  const value = badValue === undefined ? "" : `: ${printed(badValue)}`;
  return `${words[type]}${value}${detail === "" ? "" : `: ${detail}`}`;
}

export function fieldErrorText(error: FieldError): string {
  return `${error.field}: ${fieldErrorBody(error)}`;
}

/** `a`, or `[a, b]`, each text once. */
export function aggregate(texts: readonly string[]): string {
  const distinct = [...new Set(texts)];
  return distinct.length === 1 ? String(distinct[0]) : `[${distinct.join(", ")}]`;
}

export function invalidStatus(kind: GroupKind, name: string, errors: readonly FieldError[]): StatusError {
  const subject = `${kindName(kind)} ${goQuote(name)} is invalid`;
  const texts: string[] = [];
  const causes: { readonly reason: string; readonly message: string; readonly field: string }[] = [];
  let printed = 0;
  for (const error of errors) {
    const message = fieldErrorBody(error);
    texts.push(`${error.field}: ${message}`);
    causes.push({ reason: error.type, message, field: error.field });
    printed += message.length + error.field.length;
    if (printed > MAX_PRINTED) break;
  }
  const message = errors.length === 0 ? subject : `${subject}: ${aggregate(texts)}`;
  return new StatusError("Invalid", message, { details: { name, group: kind.group, kind: kind.kind, causes } });
}

function printed(value: Json): string {
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number") return goNumber(value);
  return goJson(value);
}

function fieldError(type: FieldErrorType, where: Where, badValue: Json | undefined, detail: string): FieldError {
  const field = where instanceof FieldPath ? where.toString() : where;
  return badValue === undefined ? { type, field, detail } : { type, field, badValue, detail };
}
