/**
 * Finds everything that is registered under a prefix of a key. The cost depends on the number of different prefix
 * lengths, not on the number of prefixes.
 */

export class PrefixIndex<T> {
  readonly #byPrefix = new Map<string, Set<T>>();
  /** How many prefixes there are of each length. */
  readonly #lengths = new Map<number, number>();

  add(prefix: string, item: T): void {
    const items = this.#byPrefix.get(prefix);
    if (items !== undefined) {
      items.add(item);
      return;
    }
    this.#byPrefix.set(prefix, new Set([item]));
    this.#lengths.set(prefix.length, (this.#lengths.get(prefix.length) ?? 0) + 1);
  }

  remove(prefix: string, item: T): void {
    const items = this.#byPrefix.get(prefix);
    if (items === undefined || !items.delete(item) || items.size > 0) return;
    this.#byPrefix.delete(prefix);
    const left = (this.#lengths.get(prefix.length) ?? 1) - 1;
    if (left === 0) this.#lengths.delete(prefix.length);
    else this.#lengths.set(prefix.length, left);
  }

  /** Calls `visit` for everything under a prefix of this key. */
  visit(key: string, visit: (item: T) => void): void {
    for (const length of this.#lengths.keys()) {
      if (length <= key.length) this.#byPrefix.get(key.slice(0, length))?.forEach(visit);
    }
  }

  *[Symbol.iterator](): Generator<T> {
    for (const items of this.#byPrefix.values()) yield* items;
  }
}
