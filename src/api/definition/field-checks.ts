/** Small checks that the parts of a pod share. */
import {
  type FieldError,
  type FieldPath,
  invalid,
  NO_ERRORS,
  notSupported,
  required,
} from "../machinery/errors/field-error.ts";
import type { NameCheck } from "../machinery/names/names.ts";

/** What `check` finds wrong with the value, each as an error. */
export function fits(check: NameCheck, value: string, where: FieldPath): readonly FieldError[] {
  const faults = check(value);
  return faults.length === 0 ? NO_ERRORS : faults.map((why) => invalid(where, value, why));
}

export function requireFits(check: NameCheck, value: string | undefined, where: FieldPath): readonly FieldError[] {
  return value === undefined || value === "" ? [required(where)] : fits(check, value, where);
}

export function requireText(value: string | undefined, where: FieldPath): readonly FieldError[] {
  return value === undefined || value === "" ? [required(where)] : NO_ERRORS;
}

/** One of the values, which are told in the order given. */
export function oneOf(
  value: string | undefined,
  supported: readonly string[],
  where: FieldPath,
): readonly FieldError[] {
  return value === undefined || supported.includes(value) ? NO_ERRORS : [notSupported(where, value, supported)];
}

export function requireOneOf(
  value: string | undefined,
  supported: readonly string[],
  where: FieldPath,
): readonly FieldError[] {
  return value === undefined || value === "" ? [required(where)] : oneOf(value, supported, where);
}

export function notNegative(value: number | undefined, where: FieldPath): readonly FieldError[] {
  return (value ?? 0) < 0 ? [invalid(where, value ?? 0, "must be greater than or equal to 0")] : [];
}

export function positive(value: number, where: FieldPath): readonly FieldError[] {
  return value > 0 ? [] : [invalid(where, value, "must be greater than zero")];
}

export function within(value: number, low: number, high: number, where: FieldPath): readonly FieldError[] {
  return value >= low && value <= high
    ? NO_ERRORS
    : [invalid(where, value, `must be between ${low} and ${high}, inclusive`)];
}
