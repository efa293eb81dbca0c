/**
 * Lists at an older revision: the current state with the later changes undone. Pure, over iterables of the backend.
 *
 * 1. The `previous` of the first change to a key after a revision is the key's entry at that revision.
 * 2. All iterables are in the order of keys' bytes, except changes, which are in the order of revisions.
 */

import { Heap } from "#base";
import { sortKey } from "../model/key-order.ts";
import type { Change, Entry, Page, Revision } from "../model/store.ts";

/** Entries that override those of a list; undefined: the key is absent. */
export type Overlay = ReadonlyMap<string, Entry | undefined>;

/** `changes`: all after the requested revision. Only keys with the prefix, and after `after`, are kept. */
export function undo(changes: Iterable<Change>, prefix: string, after?: string): Overlay {
  const undone = new Map<string, Entry | undefined>();
  const start = after === undefined ? "" : sortKey(after);
  for (const { key, previous } of changes) {
    if (key.startsWith(prefix) && !undone.has(key) && sortKey(key) > start) undone.set(key, previous);
  }
  return undone;
}

/** The entries with the overlay applied. */
export function* overlaid(entries: Iterable<Entry>, overlay: Overlay): Generator<Entry> {
  // A heap, not a sorted array: of many changes, a page needs only the first few keys.
  const others = new Heap<{ readonly at: string; readonly entry: Entry }>((a, b) => a.at < b.at);
  for (const entry of overlay.values()) if (entry !== undefined) others.push({ at: sortKey(entry.key), entry });
  for (const entry of entries) {
    const at = sortKey(entry.key);
    for (let next = others.peek(); next !== undefined && next.at <= at; next = others.peek()) {
      others.pop();
      yield next.entry;
    }
    if (!overlay.has(entry.key)) yield entry;
  }
  for (let next = others.pop(); next !== undefined; next = others.pop()) yield next.entry;
}

/** The first `limit` entries, and whether there are more. */
export function pageOf(entries: Iterable<Entry>, revision: Revision, limit = Number.POSITIVE_INFINITY): Page {
  const taken: Entry[] = [];
  for (const entry of entries) {
    if (taken.length === limit) return { entries: taken, revision, more: true };
    taken.push(entry);
  }
  return { entries: taken, revision, more: false };
}
