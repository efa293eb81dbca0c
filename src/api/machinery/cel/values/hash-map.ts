/** Maps that expressions construct. */
import { MapValue, type Outcome, Uint, type Value } from "./value.ts";

/** The identity of a key: numbers by value, whatever their type. */
type Hash = string | boolean | bigint;

export class HashMap extends MapValue {
  private readonly entries = new Map<Hash, { readonly key: Value; readonly value: Value }>();

  static of(entries: Iterable<readonly [Value, Value]>): HashMap {
    const map = new HashMap();
    for (const [key, value] of entries) map.add(key, value);
    return map;
  }

  /** For the builder of the map only. False if the key exists already, or is not a valid key. */
  add(key: Value, value: Value): boolean {
    const hash = hashOf(key);
    if (hash === undefined || this.entries.has(hash)) return false;
    this.entries.set(hash, { key, value });
    return true;
  }

  override get size(): number {
    return this.entries.size;
  }

  override get(key: Value): Outcome | undefined {
    const hash = hashOf(key);
    return hash === undefined ? undefined : this.entries.get(hash)?.value;
  }

  override has(key: Value): boolean {
    const hash = hashOf(key);
    return hash !== undefined && this.entries.has(hash);
  }

  override *keys(): Iterable<Value> {
    for (const { key } of this.entries.values()) yield key;
  }
}

/** Undefined for values that cannot be keys. */
export function hashOf(key: Value): Hash | undefined {
  switch (typeof key) {
    case "string":
    case "boolean":
    case "bigint":
      return key;
    case "number":
      return Number.isInteger(key) ? BigInt(key) : undefined;
    default:
      return key instanceof Uint ? key.value : undefined;
  }
}
