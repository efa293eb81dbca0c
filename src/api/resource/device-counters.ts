/** Counters, which devices of one pool share, and what a device takes of them. */
import { type FieldError, type FieldPath, NO_ERRORS, required } from "../machinery/errors/field-error.ts";
import type { Counter, DeviceCounterConsumption } from "../types/resource-v1.ts";
import { validateMap, validateSet } from "./lists.ts";
import { labelFaults } from "./names.ts";

const mostCounters = 32;
const mostCounterSets = 2;
const longestName = 63;

/** Any quantity is valid. */
export function validateCounters(
  counters: Readonly<Record<string, Counter>> | undefined,
  at: FieldPath,
): readonly FieldError[] {
  if (Object.keys(counters ?? {}).length === 0) return [required(at)];
  return validateMap(counters, { max: mostCounters, longestKey: longestName }, labelFaults, () => NO_ERRORS, at);
}

export function validateConsumption(
  list: readonly DeviceCounterConsumption[] | undefined,
  at: FieldPath,
): readonly FieldError[] {
  return validateSet(
    list,
    mostCounterSets,
    ({ counterSet, counters }, where) => [
      ...(counterSet === ""
        ? [required(where.child("counterSet"))]
        : labelFaults(counterSet, where.child("counterSet"))),
      ...validateCounters(counters, where.child("counters")),
    ],
    ({ counterSet }) => counterSet,
    at,
  );
}
