/**
 * The dynamic table of the decoder: a ring of names and values, found by their age.
 *
 * 1. `bytes` ≤ `limit` ≤ the capacity of the ring: it never overflows.
 * 2. Evicted strings are released at once.
 */

import { fieldOverheadBytes } from "./static-table.ts";

export class DecoderTable {
  readonly #names: string[];
  readonly #values: string[];
  readonly #mask: number;
  #limit: number;
  #bytes = 0;
  /** Entries ever added, modulo the ring: the next one goes here. */
  #next = 0;
  #length = 0;

  constructor(limit: number, mostBytes: number) {
    const slots = ringSlots(Math.max(limit, mostBytes));
    this.#names = new Array<string>(slots).fill("");
    this.#values = new Array<string>(slots).fill("");
    this.#mask = slots - 1;
    this.#limit = limit;
  }

  get length(): number {
    return this.#length;
  }

  /** `age` 0 is the newest; below `length`. */
  name(age: number): string {
    return this.#names[(this.#next - 1 - age) & this.#mask] ?? "";
  }

  value(age: number): string {
    return this.#values[(this.#next - 1 - age) & this.#mask] ?? "";
  }

  add(name: string, value: string): void {
    const bytes = name.length + value.length + fieldOverheadBytes;
    this.#evictTo(this.#limit - bytes);
    // An entry larger than the table empties it, and is not added (RFC 7541, section 4.4).
    if (bytes > this.#limit) return;
    this.#names[this.#next] = name;
    this.#values[this.#next] = value;
    this.#next = (this.#next + 1) & this.#mask;
    this.#length++;
    this.#bytes += bytes;
  }

  resize(limit: number): void {
    this.#limit = limit;
    this.#evictTo(limit);
  }

  #evictTo(bytes: number): void {
    while (this.#bytes > bytes && this.#length > 0) {
      const oldest = (this.#next - this.#length) & this.#mask;
      this.#bytes -= (this.#names[oldest] ?? "").length + (this.#values[oldest] ?? "").length + fieldOverheadBytes;
      this.#names[oldest] = "";
      this.#values[oldest] = "";
      this.#length--;
    }
  }
}

/** A power of two: the most entries that a table of so many bytes can have. */
export function ringSlots(bytes: number): number {
  let slots = 1;
  while (slots * fieldOverheadBytes < bytes) slots *= 2;
  return slots;
}
