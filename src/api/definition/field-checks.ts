/** Checks of single fields that the validation of many kinds uses, and comparison of parts of objects. */
import { internalField } from "../facts/index.ts";
import {
  type FieldError,
  type FieldPath,
  immutable,
  invalid,
  NO_ERRORS,
  notSupported,
  required,
  type Where,
} from "../machinery/errors/field-error.ts";
import { equalJson } from "../machinery/json/equal.ts";
import type { Int64, Json } from "../machinery/json/json.ts";
import { sentEmpty } from "../machinery/json/sent-empty.ts";
import { checkDns1123Subdomain, checkPercent, type NameCheck } from "../machinery/names/names.ts";
import type { IntOrString } from "../machinery/scalars/int-or-string.ts";

export type Part = object | string | Int64 | boolean | null | undefined;

/** The generated types are JSON, but TypeScript gives interfaces no index signature. Absent becomes null. */
export function jsonOf(value: Part): Json {
  return (value ?? null) as Json;
}

/** A pointer without a value: null, where the field is required. */
export function isUnset(value: Part): value is null | undefined {
  return value === undefined || value === null;
}

export function same(a: Part, b: Part): boolean {
  return equalJson(jsonOf(a), jsonOf(b));
}

export function unchanged(value: Part, old: Part, where: Where): readonly FieldError[] {
  return same(value, old) ? [] : [immutable(where, jsonOf(value))];
}

/** A field of a type, such as `roleRef` of `rbac.v1.RoleBinding`; the error prints it in its internal Go type. */
export function unchangedField<T extends object, Name extends keyof T & string>(
  type: string,
  name: Name,
  next: T,
  old: T,
  at: FieldPath,
): readonly FieldError[] {
  if (same(next[name] as Part, old[name] as Part)) return NO_ERRORS;
  const value = next[name] ?? sentEmpty(next, name);
  return [immutable(at.child(name), internalField(type, name, value as Exclude<Part, null>))];
}

/** The faults that `check` finds, each as an error. */
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

/** The message lists the values in the given order. */
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

export function positive(value: Int64, where: FieldPath): readonly FieldError[] {
  return value > 0 ? [] : [invalid(where, value, "must be greater than zero")];
}

export function within(value: Int64, low: number, high: number, where: FieldPath): readonly FieldError[] {
  return value >= low && value <= high
    ? NO_ERRORS
    : [invalid(where, value, `must be between ${low} and ${high}, inclusive`)];
}

/** An absent number is valid. */
export function nonNegative(value: Int64 | undefined, where: FieldPath): readonly FieldError[] {
  return value === undefined || value >= 0 ? [] : [invalid(where, value, "must be greater than or equal to 0")];
}

/** These fields of `holder` must not be negative. */
export function allNonNegative<T extends object>(
  holder: T,
  names: readonly (keyof T & string)[],
  at: FieldPath,
): readonly FieldError[] {
  return names.flatMap((name) => {
    const value = holder[name];
    return typeof value === "number" || typeof value === "bigint" ? nonNegative(value, at.child(name)) : [];
  });
}

export function nonNegativeIntOrPercent(value: IntOrString, where: FieldPath): readonly FieldError[] {
  return typeof value === "number"
    ? nonNegative(value, where)
    : checkPercent(value).map((why) => invalid(where, value, why));
}

export function atMost100Percent(value: IntOrString, where: FieldPath): readonly FieldError[] {
  return (percentOf(value) ?? 0) > 100 ? [invalid(where, value, "must not be greater than 100%")] : [];
}

/** The count or the percentage as a number; 0 where there is none. */
export function plainNumber(value: IntOrString): number {
  if (typeof value === "number") return value;
  return percentOf(value) ?? (/^[+-]?\d+$/.test(value) ? Number(value) : 0);
}

/** A counter that controllers only increment, so that no two of their objects get the same name. */
export function neverDecremented(
  value: number | undefined,
  old: number | undefined,
  where: FieldPath,
): readonly FieldError[] {
  return old !== undefined && (value === undefined || value < old)
    ? [invalid(where, value ?? 0, "cannot be decremented")]
    : [];
}

function percentOf(value: IntOrString): number | undefined {
  return typeof value === "string" && checkPercent(value).length === 0 ? Number(value.slice(0, -1)) : undefined;
}

const pathPattern = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const wholePath = new RegExp(`^${pathPattern}$`);

/** `example.com/controller`: a domain, a slash, and a path. */
export function domainPrefixedPathFaults(value: string, where: Where): readonly FieldError[] {
  if (value === "") return [required(where)];
  const slash = value.indexOf("/");
  const [domain, path] = [value.slice(0, Math.max(slash, 0)), value.slice(slash + 1)];
  if (slash < 0 || domain === "" || path === "") {
    return [invalid(where, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const errors = checkDns1123Subdomain(domain).map((why) => invalid(where, domain, why));
  if (wholePath.test(path)) return errors;
  return [...errors, invalid(where, path, `Invalid path (regex used for validation is '${pathPattern}')`)];
}
