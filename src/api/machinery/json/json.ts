/** JSON values. */
import { flatText } from "./flat-text.ts";
import { numberOf } from "./int64.ts";
import { setKey } from "./own-key.ts";

/** A bigint is an integer that a number does not hold exactly: see `int64.ts`. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
/** A 64-bit integer, as int64 fields have it. */
export type Int64 = number | bigint;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** A deep copy, several times as fast as structuredClone. */
export function cloneJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneJson) as T;
  const copy = {};
  for (const key of Object.keys(value)) setKey(copy, key, cloneJson((value as JsonObject)[key] as Json));
  return copy as T;
}

/**
 * The same as parsing the value's JSON text, without the text: undefined for a value that JSON does not write. A deep
 * copy.
 */
export function plainJson(value: unknown): Json | undefined {
  switch (typeof value) {
    case "string":
      return flatText(value);
    case "boolean":
      return value;
    case "number":
      // JSON writes minus zero as zero.
      return Number.isFinite(value) ? value + 0 : null;
    case "object":
      return value === null ? null : plainParts(value);
    case "bigint":
      return numberOf(value);
    default:
      return undefined;
  }
}

function plainParts(value: object): Json | undefined {
  if ("toJSON" in value && typeof value.toJSON === "function") return plainJson(value.toJSON());
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (let at = 0; at < value.length; at++) items.push(plainJson(value[at]) ?? null);
    return items;
  }
  const copy = {};
  for (const key of Object.keys(value)) {
    const part = plainJson((value as Readonly<Record<string, unknown>>)[key]);
    if (part !== undefined) setKey(copy, key, part);
  }
  return copy;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
