/** Typed parts of objects, as the JSON that they are: for messages and comparisons. */

import { type FieldError, immutable, type Where } from "../machinery/errors/field-error.ts";
import { equalJson } from "../machinery/json/equal.ts";
import type { Json } from "../machinery/json/json.ts";

export type Part = object | string | number | boolean | null | undefined;

/** The generated types are all JSON, but TypeScript gives interfaces no index signature; absent is null. */
export function jsonOf(value: Part): Json {
  return (value ?? null) as Json;
}

export function same(a: Part, b: Part): boolean {
  return equalJson(jsonOf(a), jsonOf(b));
}

export function unchanged(value: Part, old: Part, where: Where): readonly FieldError[] {
  return same(value, old) ? [] : [immutable(where, jsonOf(value))];
}
