/**
 * The newest changes in memory, for watchers that keep up. Older ones come from the log table.
 *
 * 1. Revisions are without gaps, from `first` to the newest.
 * 2. Bounded by bytes: the oldest are forgotten first.
 */

import type { Entry, Revision } from "../model/store.ts";
import type { LogRecord } from "./records.ts";

export interface RecentChange {
  readonly record: LogRecord;
  readonly entry: Entry | undefined;
  /** Known only if it was itself recent when this change was made. */
  readonly previous: Entry | undefined;
  /** A later change of the same key exists. */
  isReplaced: boolean;
}

/** The approximate memory of a change besides its key and value. */
const OVERHEAD_BYTES = 300;

export class RecentChanges {
  readonly #maxBytes: number;
  #changes: RecentChange[] = [];
  /** Changes before this index are forgotten; the array is cut when they are more than half of it. */
  #start = 0;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(record: LogRecord): RecentChange {
    const { key, value, createRevision, revision, previousRevision } = record;
    const entry = value && { key, value, createRevision, revision };
    const before = previousRevision === 0 ? undefined : this.at(previousRevision);
    if (before !== undefined) before.isReplaced = true;
    const change = { record, entry, previous: before?.entry, isReplaced: false };
    this.#changes.push(change);
    this.#bytes += size(record);
    this.#trim();
    return change;
  }

  at(revision: Revision): RecentChange | undefined {
    const first = this.#changes[this.#start]?.record.revision;
    return first === undefined || revision < first ? undefined : this.#changes[this.#start + revision - first];
  }

  /** The key's entry, if the key has this revision and it is recent. Undefined: unknown. */
  current(key: string, revision: Revision | undefined): Entry | undefined {
    const change = revision === undefined ? undefined : this.at(revision);
    return change?.record.key === key && !change.isReplaced ? change.entry : undefined;
  }

  /** The records from a revision, which `at` must know, to the newest. */
  *records(from: Revision): Generator<LogRecord> {
    for (let revision = from, change = this.at(from); change !== undefined; change = this.at(++revision))
      yield change.record;
  }

  #trim(): void {
    while (this.#bytes > this.#maxBytes) {
      const oldest = this.#changes[this.#start];
      if (oldest === undefined) return;
      this.#bytes -= size(oldest.record);
      this.#start++;
    }
    if (this.#start > 1024 && this.#start > this.#changes.length / 2) {
      this.#changes = this.#changes.slice(this.#start);
      this.#start = 0;
    }
  }
}

function size({ key, value }: LogRecord): number {
  return OVERHEAD_BYTES + key.length + (value?.length ?? 0);
}
