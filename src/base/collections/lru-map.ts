/**
 * A map of at most `limit` entries that evicts the least recently used one.
 *
 * 1. `get` and `set` count as use; `has` and iteration do not.
 * 2. Iteration goes from the least to the most recently used entry, and entries may be deleted meanwhile.
 * 3. `onEvict` is called with entries that are evicted because the map is full, not with those that are deleted or
 *    replaced.
 */
export class LruMap<K, V extends NonNullable<unknown>> implements Iterable<[K, V]> {
  /** May be changed: a lower limit takes effect at the next `set`. */
  limit: number;
  readonly #entries = new Map<K, V>();
  readonly #onEvict: ((key: K, value: V) => void) | undefined;

  constructor(limit: number, onEvict?: (key: K, value: V) => void) {
    this.limit = limit;
    this.#onEvict = onEvict;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.limit) return;
    for (const [oldest, evicted] of this.#entries) {
      this.#entries.delete(oldest);
      this.#onEvict?.(oldest, evicted);
      if (this.#entries.size <= this.limit) return;
    }
  }

  delete(key: K): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  values(): IterableIterator<V> {
    return this.#entries.values();
  }

  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.#entries[Symbol.iterator]();
  }
}
