/**
 * The content of a memory store: two OrderedMaps, which fork in O(1) (docs/adr/0020-ordered-map.md).
 *
 * 1. `log` has exactly the changes after `compacted`, up to `head`.
 * 2. Entries are sorted by keys' bytes, for lists; changes by revision, for watches.
 */

import { type KeyRange, OrderedMap } from "#base";
import { overlaid, pageOf, undo } from "../history/list-at.ts";
import type { LogSlice } from "../history/log-watch.ts";
import { prefixRange, sortKey } from "../model/key-order.ts";
import type { Change, Entry, ListOptions, Page, Revision } from "../model/store.ts";

/** An immutable state. */
export interface MemorySnapshot {
  readonly revision: Revision;
  /** In the order of their keys' bytes. */
  entries(): Iterable<Entry>;
  /** A writable copy of the same state. O(1). */
  fork(): MemoryState;
}

export class MemoryState implements MemorySnapshot {
  readonly #entries: OrderedMap<string, Entry>;
  readonly #log: OrderedMap<Revision, Change>;
  #head: Revision;
  #compacted: Revision;

  constructor(
    head: Revision,
    compacted = head,
    entries = new OrderedMap<string, Entry>(),
    log = new OrderedMap<Revision, Change>(),
  ) {
    this.#head = head;
    this.#compacted = compacted;
    this.#entries = entries;
    this.#log = log;
  }

  get revision(): Revision {
    return this.#head;
  }

  get compacted(): Revision {
    return this.#compacted;
  }

  /** How many changes are kept. */
  get history(): number {
    return this.#log.size;
  }

  /** How many nodes of its trees had to be copied because they were shared with a fork. */
  get copies(): number {
    return this.#entries.copies + this.#log.copies;
  }

  fork(): MemoryState {
    return new MemoryState(this.#head, this.#compacted, this.#entries.fork(), this.#log.fork());
  }

  entries(): Iterable<Entry> {
    return this.#entries.values();
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(sortKey(key));
  }

  count(prefix: string): number {
    return this.#entries.count(prefixRange(prefix));
  }

  list(prefix: string, { revision = this.#head, limit, after }: ListOptions): Page {
    const current = this.#entries.values(rangeOf(prefix, after));
    if (revision === this.#head) return pageOf(current, revision, limit);
    const undone = undo(this.#log.values({ after: revision }), prefix, after);
    return pageOf(overlaid(current, undone), revision, limit);
  }

  /** The change at the next revision; without a value, a deletion. */
  write(key: string, value: Buffer | undefined): Change {
    const revision = ++this.#head;
    const sorted = sortKey(key);
    const previous = this.#entries.get(sorted);
    const createRevision = previous?.createRevision ?? revision;
    const entry = value === undefined ? undefined : { key, value, createRevision, revision };
    if (entry === undefined) this.#entries.delete(sorted);
    else this.#entries.set(sorted, entry);
    const change = { key, revision, entry, previous };
    this.#log.set(revision, change);
    return change;
  }

  /** Inserts an entry with its given revisions; no change is logged. */
  load(entry: Entry): void {
    this.#entries.set(sortKey(entry.key), entry);
  }

  compact(revision: Revision): void {
    if (revision <= this.#compacted) return;
    this.#compacted = revision;
    this.#log.deleteBelow(revision + 1);
  }

  readLog(prefix: string, after: Revision, limit: number): LogSlice {
    const changes: Change[] = [];
    for (const change of this.#log.values({ after })) {
      if (!change.key.startsWith(prefix)) continue;
      changes.push(change);
      if (changes.length === limit) return { changes, through: change.revision };
    }
    return { changes, through: this.#head };
  }
}

function rangeOf(prefix: string, after: string | undefined): KeyRange<string> {
  const range = prefixRange(prefix);
  if (after === undefined) return range;
  const sorted = sortKey(after);
  return sorted < range.from ? range : { ...range, after: sorted };
}
