/**
 * The store as anyone would explain it on paper: a list of all changes ever made, replayed for every question.
 * Slow and obviously right; the backends are compared with it.
 */

import type { Change, Entry, Revision } from "../model/store.ts";

export class Model {
  readonly changes: Change[] = [];
  head: Revision;
  compacted: Revision;

  constructor(head: Revision) {
    this.head = head;
    this.compacted = head;
  }

  /** The keys and entries as of a revision. */
  at(revision: Revision): ReadonlyMap<string, Entry> {
    const state = new Map<string, Entry>();
    for (const change of this.changes) {
      if (change.revision > revision) break;
      if (change.entry === undefined) state.delete(change.key);
      else state.set(change.key, change.entry);
    }
    return state;
  }

  get(key: string): Entry | undefined {
    return this.at(this.head).get(key);
  }

  list(prefix: string, revision: Revision, after = "", limit = Number.POSITIVE_INFINITY) {
    const found = [...this.at(revision).values()]
      .filter((entry) => entry.key.startsWith(prefix) && byteOrder(entry.key, after) > 0)
      .sort((a, b) => byteOrder(a.key, b.key));
    return { entries: found.slice(0, limit), more: found.length > limit };
  }

  watched(prefix: string, after: Revision): readonly Change[] {
    return this.changes.filter((change) => change.revision > after && change.key.startsWith(prefix));
  }

  /** Whether a compare-and-swap that expects `expected` (undefined: an absent key) would be done. */
  allows(key: string, expected: Revision | undefined): boolean {
    return this.get(key)?.revision === expected;
  }

  /** Records a write that was done at `revision`; without a value it was a deletion. */
  write(key: string, value: Buffer | undefined, revision: Revision): void {
    const previous = this.get(key);
    const createRevision = previous?.createRevision ?? revision;
    const entry = value === undefined ? undefined : { key, value, createRevision, revision };
    this.changes.push({ key, revision, entry, previous });
    this.head = revision;
  }

  compact(revision: Revision): void {
    this.compacted = Math.max(this.compacted, revision);
  }
}

export function byteOrder(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
