/** The latest items within a number of bytes, as their maker counts them. */

interface Slot<T> {
  readonly item: T;
  readonly bytes: number;
}

/** How many slots that are no longer used may be left at the front before they are given back. */
const SLACK = 4096;

export class Ring<T> {
  readonly #limitBytes: number;
  #slots: (Slot<T> | undefined)[] = [];
  #first = 0;
  #bytes = 0;
  dropped = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  push(item: T, bytes: number): void {
    this.#slots.push({ item, bytes });
    this.#bytes += bytes;
    while (this.#bytes > this.#limitBytes && this.#slots.length - this.#first > 1) this.#dropFirst();
  }

  *[Symbol.iterator](): Generator<T> {
    for (let at = this.#first; at < this.#slots.length; at++) {
      const slot = this.#slots[at];
      if (slot !== undefined) yield slot.item;
    }
  }

  #dropFirst(): void {
    this.#bytes -= this.#slots[this.#first]?.bytes ?? 0;
    this.#slots[this.#first] = undefined;
    this.#first += 1;
    this.dropped += 1;
    if (this.#first < SLACK || this.#first * 2 < this.#slots.length) return;
    this.#slots = this.#slots.slice(this.#first);
    this.#first = 0;
  }
}
