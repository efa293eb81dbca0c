/** Amounts of resources, as nodes, quotas, limits and volumes list them. */
import { type FieldError, invalid, type Where } from "../../machinery/errors/field-error.ts";
import {
  compareQuantities,
  parseQuantity,
  type Quantity,
  scaledValue,
  zeroQuantity,
} from "../../machinery/scalars/quantity.ts";

/** Counted, never measured: half a pod makes no sense. */
const counted = new Set([
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
]);

/** Whole numbers only: the kinds that are counted, and what others count under names of their own. */
export function isIntegerResource(name: string): boolean {
  return counted.has(name) || isExtendedResource(name);
}

export function isExtendedResource(name: string): boolean {
  return name.includes("/") && !name.includes("kubernetes.io/") && !name.startsWith("requests.");
}

/** Not negative, and whole where the resource is counted. */
export function quantityFaults(name: string, text: string, where: Where): readonly FieldError[] {
  const value = parseQuantity(text);
  const negative = negativeFaults(value, text, where);
  if (!isIntegerResource(name) || scaledValue(value, -3) % 1000n === 0n) return negative;
  return [...negative, invalidPlain(where, text, "must be an integer")];
}

export function negativeFaults(value: Quantity, text: string, where: Where): readonly FieldError[] {
  return compareQuantities(value, zeroQuantity) < 0 ? [invalid(where, text, "must be greater than or equal to 0")] : [];
}

export function notPositiveFaults(value: Quantity, text: string, where: Where): readonly FieldError[] {
  return compareQuantities(value, zeroQuantity) <= 0 ? [invalid(where, text, "must be greater than zero")] : [];
}

/** The original shows some values without quotes: those of types that print themselves. */
export function invalidPlain(where: Where, value: string, detail: string): FieldError {
  const { badValue: _, ...error } = invalid(where, value, `${value}: ${detail}`);
  return error;
}
