/**
 * Records that are durable in the journal but not in the tables yet. Reads look here first.
 *
 * 1. Revisions are without gaps; the first follows the newest one of the tables.
 */

import type { Overlay } from "../history/list-at.ts";
import { sortKey } from "../model/key-order.ts";
import type { Entry, Revision } from "../model/store.ts";
import { entryOf, type LogRecord } from "./records.ts";

export class Pending {
  #records: LogRecord[] = [];
  readonly #newest = new Map<string, LogRecord>();
  #bytes = 0;

  /** The bytes of the values. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#records.length;
  }

  /** 0 when there is none. */
  get newest(): Revision {
    return this.#records.at(-1)?.revision ?? 0;
  }

  add(records: readonly LogRecord[]): void {
    for (const record of records) {
      this.#records.push(record);
      this.#newest.set(record.key, record);
      this.#bytes += record.value?.length ?? 0;
    }
  }

  /** The newest record of a key; may be a deletion. */
  of(key: string): LogRecord | undefined {
    return this.#newest.get(key);
  }

  at(revision: Revision): LogRecord | undefined {
    const [first] = this.#records;
    return first && this.#records[revision - first.revision];
  }

  /** The oldest records, as many as one commit may hold. */
  oldest(maxRecords: number, maxBytes: number): readonly LogRecord[] {
    let count = 0;
    for (let bytes = 0; count < Math.min(this.#records.length, maxRecords) && bytes < maxBytes; count++)
      bytes += this.#records[count]?.value?.length ?? 0;
    return this.#records.slice(0, count);
  }

  /** The tables have reached a revision. */
  forget(through: Revision): void {
    let count = 0;
    for (const record of this.#records) {
      if (record.revision > through) break;
      if (this.#newest.get(record.key) === record) this.#newest.delete(record.key);
      this.#bytes -= record.value?.length ?? 0;
      count++;
    }
    if (count > 0) this.#records = this.#records.slice(count);
  }

  /** The entries that override those of the tables, for keys with this prefix and after `after`. */
  overlay(prefix: string, after?: string): Overlay {
    const overlay = new Map<string, Entry | undefined>();
    const start = after === undefined ? undefined : sortKey(after);
    for (const [key, record] of this.#newest) {
      if (key.startsWith(prefix) && (start === undefined || sortKey(key) > start)) overlay.set(key, entryOf(record));
    }
    return overlay;
  }
}
