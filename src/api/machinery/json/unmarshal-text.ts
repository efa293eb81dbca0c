import type { Json } from "./json.ts";

/** Go's names for the kinds of JSON values. */
export function jsonKind(value: Json): "array" | "object" | "string" | "number" | "bool" | "null" {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint" || typeof value === "symbol") return "number";
  return typeof value === "object" ? "object" : (typeof value as "string" | "number");
}

/** Go's error for a value of the wrong kind. */
export function unmarshalText(value: Json, goType: string): string {
  return `json: cannot unmarshal ${jsonKind(value)} into Go value of type ${goType}`;
}
