/** Items of a `map` list, found by the values of their keys. */
import { isObject, type Json } from "../machinery/json/json.ts";
import { getKey } from "../machinery/json/own-key.ts";

export interface KeyedItems {
  /** The item with the same keys; the first of several. */
  get(item: Json): Json | undefined;
}

export function itemsByKeys(keys: readonly string[], items: readonly Json[]): KeyedItems {
  const found = new Map<string, Json>();
  for (const item of items) {
    const key = keyOf(keys, item);
    if (key !== undefined && !found.has(key)) found.set(key, item);
  }
  return {
    get(item) {
      const key = keyOf(keys, item);
      return key === undefined ? undefined : found.get(key);
    },
  };
}

/** Undefined where a key is missing or no scalar: such an item belongs to nothing. */
function keyOf(keys: readonly string[], item: Json): string | undefined {
  if (!isObject(item)) return undefined;
  const values: Json[] = [];
  for (const name of keys) {
    const value = getKey(item, name);
    if (value === undefined || value === null || typeof value === "object") return undefined;
    values.push(value);
  }
  return JSON.stringify(values);
}
