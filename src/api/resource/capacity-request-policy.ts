/** How much of a capacity requests may take, where several allocations share a device. */
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  NO_ERRORS,
  required,
} from "../machinery/errors/field-error.ts";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  scaledValue,
  zeroQuantity,
} from "../machinery/scalars/quantity.ts";
import type { CapacityRequestPolicy, CapacityRequestPolicyRange } from "../types/resource-v1.ts";
import { validateSet } from "./lists.ts";

const mostValues = 10;

/** `capacity`: all that there is. */
export function validateRequestPolicy(
  { default: fallback, validValues = [], validRange }: CapacityRequestPolicy,
  capacity: string,
  at: FieldPath,
): readonly FieldError[] {
  if (validValues.length > 0 && validRange !== undefined) {
    const why = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time';
    return [forbidden(at, why)];
  }
  if (validValues.length > 0) {
    return fallback === undefined
      ? [required(at.child("default"), "required when validValues is defined")]
      : validateValues(validValues, fallback, capacity, at.child("validValues"));
  }
  if (validRange === undefined) return NO_ERRORS;
  return fallback === undefined
    ? [required(at.child("default"), "required when validRange is defined")]
    : validateRange(validRange, fallback, capacity, at.child("validRange"));
}

function validateValues(
  values: readonly string[],
  fallback: string,
  capacity: string,
  at: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, value] of values.entries()) {
    if (i > 0 && isLess(value, values[i - 1] ?? value)) {
      errors.push(invalid(at.index(i), value, "values must be sorted in ascending order"));
    }
  }
  const check = (value: string, where: FieldPath) =>
    isLess(capacity, value) ? [invalid(where, value, `option is larger than capacity value: ${capacity}`)] : NO_ERRORS;
  errors.push(...validateSet(values, mostValues, check, (value) => String(wholeValue(value)), at));
  if (!values.some((value) => compareQuantities(parseQuantity(value), parseQuantity(fallback)) === 0)) {
    errors.push(invalid(at, fallback, "default value is not valid according to the requestPolicy"));
  }
  return errors;
}

function validateRange(
  { min, max, step }: Partial<CapacityRequestPolicyRange>,
  fallback: string,
  capacity: string,
  at: FieldPath,
): readonly FieldError[] {
  if (min === undefined) return [required(at.child("min"), "required when validRange is defined")];
  const errors: FieldError[] = [];
  const refuse = (name: string, value: string, why: string) => errors.push(invalid(at.child(name), value, why));
  if (isLess(capacity, min)) refuse("min", min, `min is larger than capacity value: ${capacity}`);
  if (isLess(fallback, min)) refuse("default", fallback, `default is less than min: ${min}`);
  if (max !== undefined) {
    if (isLess(max, min)) refuse("max", min, `min is larger than max: ${max}`);
    if (isLess(capacity, max)) refuse("max", max, `max is larger than capacity value: ${capacity}`);
    if (isLess(max, fallback)) refuse("default", fallback, `default is more than max: ${max}`);
  }
  if (step !== undefined) errors.push(...validateStep({ min, max, step }, fallback, capacity, at.child("step")));
  return errors;
}

function validateStep(
  { min, max, step }: { readonly min: string; readonly max: string | undefined; readonly step: string },
  fallback: string,
  capacity: string,
  at: FieldPath,
): readonly FieldError[] {
  if (compareQuantities(parseQuantity(step), zeroQuantity) <= 0)
    return [invalid(at, step, "must be greater than zero")];
  const errors: FieldError[] = [];
  const first = formatQuantity(addQuantities(parseQuantity(min), parseQuantity(step)));
  if (isLess(capacity, first))
    errors.push(invalid(at, step, `one step ${first} is larger than capacity value: ${capacity}`));
  for (const value of max === undefined ? [fallback] : [fallback, max]) {
    if ((wholeValue(value) - wholeValue(min)) % wholeValue(step) === 0n) continue;
    errors.push(invalid(at, value, `value is not a multiple of a given step (${step}) from (${min})`));
  }
  return errors;
}

function isLess(a: string, b: string): boolean {
  return compareQuantities(parseQuantity(a), parseQuantity(b)) < 0;
}

/** Rounded up. */
function wholeValue(text: string): bigint {
  return scaledValue(parseQuantity(text), 0);
}
