/**
 * The dynamic table as its writer needs it: entries found by name, then by value.
 *
 * 1. It holds what the peer's table holds, in the same order, as long as both are resized at the same place.
 * 2. A name is known only while it has entries: names from outside (proxied answers) take no memory for ever.
 * 3. A name whose values do not come again stops being added: an addition takes from its credit, a value found again restores it.
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

  /** Whether a field is worth its place: it fits without emptying the table, and values of its name do come again. */
  wants(known: KnownName | undefined, name: string, value: string): boolean {
    if (known !== undefined && known.credit === 0) return false;
    return (name.length + value.length + fieldOverheadBytes) * 4 <= this.#limit;
  }

  /** For fields that `wants` said yes to. */
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
