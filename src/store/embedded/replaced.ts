/**
 * What each change has made superfluous, from the last compaction on: what it replaced, and itself where it is a deletion. Compaction would have to read this
 * from the log, record by record.
 *
 * 1. It knows the changes of this process, without gaps; what was written before is in the log alone.
 */

import type { Revision } from "../model/store.ts";
import type { LogRecord } from "./records.ts";

/** The array is cut when so many at its start have been forgotten, and they are the larger part. */
const CUT_AT = 4096;

export class Replaced {
  /** By revision, from `#first` on: the revision before, negative for a deletion. */
  #before: number[] = [];
  #first: Revision = 0;
  #forgotten = 0;

  add({ revision, value, previousRevision }: LogRecord): void {
    if (this.#before.length === 0) this.#first = revision;
    this.#before.push(value === undefined ? -previousRevision : previousRevision);
  }

  /** What nobody needs once the store is compacted through a revision. Undefined: it does not know. */
  between(from: Revision, through: Revision): readonly Revision[] | undefined {
    const start = from - this.#first;
    const end = through + 1 - this.#first;
    if (start < this.#forgotten || end > this.#before.length) return undefined;
    const dropped: Revision[] = [];
    for (let at = start; at < end; at++) {
      const before = this.#before[at] ?? 0;
      if (before !== 0) dropped.push(Math.abs(before));
      if (before < 0) dropped.push(this.#first + at);
    }
    return dropped;
  }

  /** The store has been compacted through a revision. */
  forget(through: Revision): void {
    this.#forgotten = Math.max(this.#forgotten, Math.min(through + 1 - this.#first, this.#before.length));
    if (this.#forgotten < CUT_AT || this.#forgotten < this.#before.length / 2) return;
    this.#before = this.#before.slice(this.#forgotten);
    this.#first += this.#forgotten;
    this.#forgotten = 0;
  }
}
