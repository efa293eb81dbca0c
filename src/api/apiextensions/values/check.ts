/**
 * Limits on values, compiled once into closures.
 *
 *     check(value)            is it valid? Stops at the first fault, allocates nothing.
 *     check(value, report)    what is wrong with it? Goes through all of it, in the order in which the original does.
 */
import type { Json } from "../../machinery/json/json.ts";
import type { Report } from "./report.ts";

export type Check = (value: Json, report: Report | undefined) => boolean;

export type ValueKind = "null" | "boolean" | "number" | "string" | "list" | "object";

export function kindOf(value: Json): ValueKind {
  if (value === null) return "null";
  switch (typeof value) {
    case "boolean":
      return "boolean";
    case "number":
      return "number";
    case "string":
      return "string";
    default:
      return Array.isArray(value) ? "list" : "object";
  }
}

/** A JSON number without a fraction that 64 bits can hold; anything else is floating. */
export function isInteger(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63;
}
