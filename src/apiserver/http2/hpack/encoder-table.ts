/**
 * The dynamic table of the encoder: entries found by name, then by value.
 *
 * 1. It has the entries of the peer's table, in the same order, as long as both are resized at the same place.
 * 2. A name is kept only while it has entries: names of proxied answers take no memory for ever.
 * 3. Fields of a name whose values are not repeated are no longer added: an addition costs credit, a repeated value
 *    restores it.
 */

import { ringSlots } from "./decoder-table.ts";
import { fieldOverheadBytes, staticLength } from "./static-table.ts";

const mostCredit = 8;

/** A name with entries. */
export interface KnownName {
  newest: Entry;
  credit: number;
}

interface Entry {
  readonly name: string;
  readonly value: string;
  readonly bytes: number;
  /** How many were added before it. */
  readonly sequence: number;
  /** Of the same name. */
  older: Entry | undefined;
  newer: Entry | undefined;
}

export class EncoderTable {
  readonly #names = new Map<string, KnownName>();
  readonly #ring: (Entry | undefined)[];
  readonly #mask: number;
  #limit: number;
  #bytes = 0;
  #added = 0;
  #length = 0;

  constructor(limit: number, mostBytes: number) {
    const slots = ringSlots(Math.max(limit, mostBytes));
    this.#ring = new Array<Entry | undefined>(slots).fill(undefined);
    this.#mask = slots - 1;
    this.#limit = limit;
  }

  get limit(): number {
    return this.#limit;
  }

  known(name: string): KnownName | undefined {
    return this.#names.get(name);
  }

  /** The index of a field, 0 if it has none. */
  find(known: KnownName, value: string): number {
    for (let entry: Entry | undefined = known.newest; entry !== undefined; entry = entry.older) {
      if (entry.value !== value) continue;
      known.credit = mostCredit;
      return this.#index(entry);
    }
    return 0;
  }

  indexOfName(known: KnownName): number {
    return this.#index(known.newest);
  }

  /** Whether to add a field: it fits without emptying the table, and values of its name are repeated. */
  wants(known: KnownName | undefined, name: string, value: string): boolean {
    if (known !== undefined && known.credit === 0) return false;
    return (name.length + value.length + fieldOverheadBytes) * 4 <= this.#limit;
  }

  /** For fields for which `wants` is true. */
  add(name: string, value: string): void {
    const bytes = name.length + value.length + fieldOverheadBytes;
    this.#evictTo(this.#limit - bytes);
    const sequence = this.#added++;
    const known = this.#names.get(name);
    const entry: Entry = { name, value, bytes, sequence, older: known?.newest, newer: undefined };
    if (known === undefined) {
      this.#names.set(name, { newest: entry, credit: mostCredit - 1 });
    } else {
      known.newest.newer = entry;
      known.newest = entry;
      known.credit--;
    }
    this.#ring[sequence & this.#mask] = entry;
    this.#length++;
    this.#bytes += bytes;
  }

  resize(limit: number): void {
    this.#limit = limit;
    this.#evictTo(limit);
  }

  #index(entry: Entry): number {
    return staticLength + this.#added - entry.sequence;
  }

  #evictTo(bytes: number): void {
    while (this.#bytes > bytes) {
      const slot = (this.#added - this.#length) & this.#mask;
      const oldest = this.#ring[slot];
      if (oldest === undefined) return;
      this.#ring[slot] = undefined;
      this.#length--;
      this.#bytes -= oldest.bytes;
      // The oldest entry of all is the oldest of its name.
      if (oldest.newer === undefined) this.#names.delete(oldest.name);
      else oldest.newer.older = undefined;
    }
  }
}
