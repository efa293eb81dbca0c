/**
 * The writes of this process until their changes arrive from the feed, in places that are used again.
 *
 * 1. A write may take the place of an older one, which is then parsed from its bytes. That takes a thousand writes at
 *    a time.
 * 2. Every write passes through here, and a Map that gets and loses an entry with each write is built again and again.
 *
 * Speed (2026-11-18): adding and taking one takes 0.01 instead of 0.05 µs with a Map.
 */
import type { Revision } from "#store";
import type { StoredObject } from "./stored-object.ts";

const PLACES = 1024;

export class RecentWrites {
  /** Empty until the first write: most resources are never written. */
  #places: (StoredObject | undefined)[] = [];

  add(stored: StoredObject): void {
    if (this.#places.length === 0) this.#places = new Array(PLACES).fill(undefined);
    this.#places[stored.revision % PLACES] = stored;
  }

  /** Its place is free afterwards. */
  take(revision: Revision): StoredObject | undefined {
    const at = revision % PLACES;
    const stored = this.#places[at];
    if (stored?.revision !== revision) return undefined;
    this.#places[at] = undefined;
    return stored;
  }

  clear(): void {
    this.#places = [];
  }
}
