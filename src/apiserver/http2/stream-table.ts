/**
 * The streams of a connection by their numbers, which only grow: a hash table with open addressing.
 *
 * 1. Not a Map: one through which thousands of streams pass is reallocated again and again, and its old memory, once in
 *    the old generation, retains the streams that it had until the whole heap is collected. With a Map a request costs
 *    9.6 µs, with this 8.4, and twice as much time goes into garbage collection (`bench -- http2`, three runs of each
 *    in turn, 2026-11-18). stream-table.test.ts compares it with a Map.
 * 2. A stream is at the place of its number, or at the next free place. When one is deleted, those behind it move up.
 */

const FEWEST = 16;

export class StreamTable<T> {
  #ids: number[] = new Array(FEWEST).fill(0);
  #values: (T | undefined)[] = new Array(FEWEST).fill(undefined);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(id: number): T | undefined {
    return this.#values[this.#placeOf(id)];
  }

  /** `id` is above 0, and new. */
  set(id: number, value: T): void {
    if ((this.#size + 1) * 2 > this.#ids.length) this.#grow();
    this.#put(id, value);
    this.#size++;
  }

  delete(id: number): void {
    const ids = this.#ids;
    const values = this.#values;
    const mask = ids.length - 1;
    let free = this.#placeOf(id);
    if (ids[free] !== id) return;
    this.#size--;
    // Entries behind it that belong here move up.
    for (let at = (free + 1) & mask; ids[at] !== 0; at = (at + 1) & mask) {
      const own = ((ids[at] ?? 0) >> 1) & mask;
      if (((at - own) & mask) < ((at - free) & mask)) continue;
      ids[free] = ids[at] ?? 0;
      values[free] = values[at];
      free = at;
    }
    ids[free] = 0;
    values[free] = undefined;
  }

  values(): T[] {
    return this.#values.filter((value) => value !== undefined);
  }

  /** The place where it is, or would be. */
  #placeOf(id: number): number {
    const ids = this.#ids;
    const mask = ids.length - 1;
    let at = (id >> 1) & mask;
    while (ids[at] !== id && ids[at] !== 0) at = (at + 1) & mask;
    return at;
  }

  #put(id: number, value: T): void {
    const at = this.#placeOf(id);
    this.#ids[at] = id;
    this.#values[at] = value;
  }

  #grow(): void {
    const ids = this.#ids;
    const values = this.#values;
    this.#ids = new Array(ids.length * 2).fill(0);
    this.#values = new Array(ids.length * 2).fill(undefined);
    for (const [i, id] of ids.entries()) {
      const value = values[i];
      if (id !== 0 && value !== undefined) this.#put(id, value);
    }
    values.fill(undefined);
  }
}
