/** Numbers that say how many pods or seconds: plain, or in percent of the pods wanted. */
import { type FieldError, type FieldPath, invalid } from "../machinery/errors/field-error.ts";
import { checkPercent } from "../machinery/names/names.ts";
import type { IntOrString } from "../machinery/scalars/int-or-string.ts";

/** An absent number is not looked at. */
export function nonNegative(value: number | undefined, where: FieldPath): readonly FieldError[] {
  return value === undefined || value >= 0 ? [] : [invalid(where, value, "must be greater than or equal to 0")];
}

/** Each of these fields of `holder`, none below zero. */
export function allNonNegative<T extends object>(
  holder: T,
  names: readonly (keyof T & string)[],
  at: FieldPath,
): readonly FieldError[] {
  return names.flatMap((name) => {
    const value = holder[name];
    return typeof value === "number" ? nonNegative(value, at.child(name)) : [];
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

/** The number in it, whether it counts or is a percentage; 0 where there is none. */
export function plainNumber(value: IntOrString): number {
  if (typeof value === "number") return value;
  return percentOf(value) ?? (/^[+-]?\d+$/.test(value) ? Number(value) : 0);
}

/** A count that controllers only ever raise, so that no two of their objects get the same name. */
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
