/** Amounts of resources, as nodes, quotas, limit ranges and volumes list them. */
import { type FieldError, invalid, type Where } from "../../machinery/errors/field-error.ts";
import { checkQualifiedName } from "../../machinery/names/names.ts";
import {
  compareQuantities,
  parseQuantity,
  type Quantity,
  scaledValue,
  zeroQuantity,
} from "../../machinery/scalars/quantity.ts";

/** Counts of objects. */
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

/** Integers only: counts of objects, and extended resources. */
export function isIntegerResource(name: string): boolean {
  return counted.has(name) || isExtendedResource(name);
}

export function isExtendedResource(name: string): boolean {
  if (!name.includes("/") || name.includes("kubernetes.io/") || name.startsWith("requests.")) return false;
  // A quota counts it under this name.
  return checkQualifiedName(`requests.${name}`).length === 0;
}

/** Not negative, and an integer where the resource is counted. */
export function quantityFaults(name: string, text: string, where: Where): readonly FieldError[] {
  const value = parseQuantity(text);
  const negative = negativeFaults(value, text, where);
  if (!isIntegerResource(name) || scaledValue(value, -3) % 1000n === 0n) return negative;
  return [...negative, invalid(where, text, "must be an integer")];
}

export function negativeFaults(value: Quantity, text: string, where: Where): readonly FieldError[] {
  return compareQuantities(value, zeroQuantity) < 0 ? [invalid(where, text, "must be greater than or equal to 0")] : [];
}

export function notPositiveFaults(value: Quantity, text: string, where: Where): readonly FieldError[] {
  return compareQuantities(value, zeroQuantity) <= 0 ? [invalid(where, text, "must be greater than zero")] : [];
}
