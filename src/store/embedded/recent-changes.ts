/**
 * The newest changes in memory, for watchers that keep up. Older ones come from the log table.
 *
 * 1. Revisions are without gaps, from `first` to the newest.
 * 2. Bounded by bytes: the oldest are forgotten first.
 */

import type { Entry, Revision } from "../store.ts";
import type { LogRecord } from "./records.ts";

export interface RecentChange {
  readonly record: LogRecord;
  readonly entry: Entry | undefined;
  /** Known only if it was recent itself when this change was made. */
  readonly previous: Entry | undefined;
}

/** What a change costs besides its key and value, roughly. */
const OVERHEAD_BYTES = 300;

export class RecentChanges {
  readonly #maxBytes: number;
  #changes: RecentChange[] = [];
  /** Changes before this index have been forgotten; the array is cut when they are the larger part. */
  #start = 0;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(record: LogRecord): RecentChange {
    const { key, value, createRevision, revision, previousRevision } = record;
    const entry = value && { key, value, createRevision, revision };
    const previous = previousRevision === 0 ? undefined : this.at(previousRevision)?.entry;
    const change = { record, entry, previous };
    this.#changes.push(change);
    this.#bytes += size(record);
    this.#trim();
    return change;
  }

  at(revision: Revision): RecentChange | undefined {
    const first = this.#changes[this.#start]?.record.revision;
    return first === undefined || revision < first ? undefined : this.#changes[this.#start + revision - first];
  }

  /** The records from a revision that `at` knows to the newest. */
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
