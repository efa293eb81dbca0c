/**
 * Correlates the parts of a value with those of the value that it replaces, so that faults of unchanged parts can be
 * ignored.
 *
 * 1. Fields are correlated by name, items of a `map` list by their keys; items of other lists are not correlated.
 * 2. Parts that the schema does not describe are not correlated, so a value that contains them never counts as
 *    unchanged.
 */
import { equalJson } from "../../machinery/json/equal.ts";
import { isObject, type Json } from "../../machinery/json/json.ts";
import { getKey } from "../../machinery/json/own-key.ts";
import { writeJson } from "../../machinery/json/write-json.ts";
import type { Structural } from "./structural.ts";

export class Correlation {
  readonly #schema: Structural;
  readonly #value: Json;
  readonly #old: Json;
  readonly #parts = new Map<string | number, Correlation>();
  #keyed: KeyedItems | undefined;
  #same: boolean | undefined;

  constructor(schema: Structural, value: Json, old: Json) {
    this.#schema = schema;
    this.#value = value;
    this.#old = old;
  }

  field(name: string): Correlation | undefined {
    const known = this.#parts.get(name);
    if (known !== undefined) return known;
    if (!isObject(this.#value) || !isObject(this.#old)) return undefined;
    const [value, old] = [getKey(this.#value, name), getKey(this.#old, name)];
    const { properties, additional } = this.#schema;
    const schema = properties.get(name) ?? (typeof additional === "object" ? additional : undefined);
    if (value === undefined || old === undefined || schema === undefined) return undefined;
    return this.#keep(name, new Correlation(schema, value, old));
  }

  item(index: number): Correlation | undefined {
    const known = this.#parts.get(index);
    if (known !== undefined) return known;
    const { items, listType, listKeys } = this.#schema;
    if (!Array.isArray(this.#value) || !Array.isArray(this.#old) || items === undefined || listType !== "map")
      return undefined;
    this.#keyed ??= itemsByKeys(listKeys, this.#old);
    const value = this.#value[index] as Json;
    const old = this.#keyed.get(value);
    return old === undefined ? undefined : this.#keep(index, new Correlation(items, value, old));
  }

  #keep(step: string | number, part: Correlation): Correlation {
    this.#parts.set(step, part);
    return part;
  }

  get unchanged(): boolean {
    this.#same ??= this.#compare();
    return this.#same;
  }

  #compare(): boolean {
    const [value, old] = [this.#value, this.#old];
    if (Array.isArray(value) && Array.isArray(old)) {
      if (this.#schema.listType !== "map" || this.#schema.items === undefined) return equalJson(value, old);
      return value.length === old.length && value.every((_, i) => this.item(i)?.unchanged === true);
    }
    if (isObject(value) && isObject(old)) {
      const names = Object.keys(value);
      return names.length === Object.keys(old).length && names.every((name) => this.field(name)?.unchanged === true);
    }
    return equalJson(value, old);
  }
}

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

/** Undefined where a key is missing or not a scalar: such an item is not correlated. */
function keyOf(keys: readonly string[], item: Json): string | undefined {
  if (!isObject(item)) return undefined;
  const values: Json[] = [];
  for (const name of keys) {
    const value = getKey(item, name);
    if (value === undefined || value === null || typeof value === "object") return undefined;
    values.push(value);
  }
  return writeJson(values);
}
