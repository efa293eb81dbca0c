/** The latest items within a number of bytes. The caller counts the bytes of each item. */

/** How many unused slots may be at the front before the array is cut. */
const SLACK = 4096;

export class Ring<T> {
  readonly #limitBytes: number;
  /** Two parallel arrays instead of an object for each item: less work for the garbage collector. */
  #items: (T | undefined)[] = [];
  #sizes: number[] = [];
  #first = 0;
  #bytes = 0;
  dropped = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  push(item: T, bytes: number): void {
    this.#items.push(item);
    this.#sizes.push(bytes);
    this.#bytes += bytes;
    while (this.#bytes > this.#limitBytes && this.#items.length - this.#first > 1) this.#dropFirst();
  }

  *[Symbol.iterator](): Generator<T> {
    for (let at = this.#first; at < this.#items.length; at++) {
      const item = this.#items[at];
      if (item !== undefined) yield item;
    }
  }

  #dropFirst(): void {
    this.#bytes -= this.#sizes[this.#first] ?? 0;
    this.#items[this.#first] = undefined;
    this.#first += 1;
    this.dropped += 1;
    if (this.#first < SLACK || this.#first * 2 < this.#items.length) return;
    this.#items = this.#items.slice(this.#first);
    this.#sizes = this.#sizes.slice(this.#first);
    this.#first = 0;
  }
}
