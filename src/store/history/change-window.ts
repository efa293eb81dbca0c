/**
 * The recent changes of a store that is somewhere else, in memory, shared by all watches. Its size is bounded, however
 * slowly they read.
 *
 * 1. It holds every change after `base` up to `head`, except those of keys that are not to be seen.
 * 2. The oldest changes are dropped first, whole revisions at a time.
 */

import type { Change, Revision, WatchBatch } from "../model/store.ts";
import type { LogSlice } from "./log-watch.ts";

/** The approximate memory of a change besides its key and values. */
const OVERHEAD_BYTES = 200;
/** The list is cut when this many dropped changes are at its start and they are half of it. */
const CUT_AT = 1024;

export class ChangeWindow {
  readonly #maxBytes: number;
  readonly #isHidden: (key: string) => boolean;
  #changes: (Change | undefined)[] = [];
  /** The index of the oldest held change. */
  #start = 0;
  #bytes = 0;
  #base: Revision;
  #head: Revision;

  constructor(base: Revision, maxBytes: number, isHidden: (key: string) => boolean = () => false) {
    this.#base = base;
    this.#head = base;
    this.#maxBytes = maxBytes;
    this.#isHidden = isHidden;
  }

  get head(): Revision {
    return this.#head;
  }

  /** Whether all changes after `revision` are here. */
  holds(revision: Revision): boolean {
    return revision >= this.#base;
  }

  append({ changes, revision }: WatchBatch): readonly Change[] {
    const visible = changes.filter(({ key }) => !this.#isHidden(key));
    for (const change of visible) {
      this.#changes.push(change);
      this.#bytes += changeBytes(change);
    }
    this.#head = revision;
    while (this.#bytes > this.#maxBytes) this.#dropRevision();
    this.#cut();
    return visible;
  }

  /** Undefined if some of the requested changes have been dropped. */
  read(prefix: string, after: Revision, limit: number): LogSlice | undefined {
    if (!this.holds(after)) return undefined;
    const found: Change[] = [];
    for (let i = this.#indexAfter(after); i < this.#changes.length; i++) {
      const change = this.#changes[i];
      if (change === undefined || !change.key.startsWith(prefix)) continue;
      const last = found.at(-1);
      // A revision of another writer may have several changes; it is never split.
      if (found.length >= limit && last?.revision !== change.revision)
        return { changes: found, through: change.revision - 1 };
      found.push(change);
    }
    return { changes: found, through: Math.max(this.#head, after) };
  }

  #indexAfter(revision: Revision): number {
    let low = this.#start;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle]?.revision ?? 0) > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #dropRevision(): void {
    const revision = this.#changes[this.#start]?.revision ?? this.#head;
    this.#base = revision;
    for (;;) {
      const change = this.#changes[this.#start];
      if (change === undefined || change.revision > revision) return;
      this.#bytes -= changeBytes(change);
      this.#changes[this.#start++] = undefined;
    }
  }

  #cut(): void {
    if (this.#start < CUT_AT || this.#start * 2 < this.#changes.length) return;
    this.#changes = this.#changes.slice(this.#start);
    this.#start = 0;
  }
}

export function changeBytes({ key, entry, previous }: Change): number {
  return OVERHEAD_BYTES + key.length + (entry?.value.length ?? 0) + (previous?.value.length ?? 0);
}
