/**
 * What this process has just written, until its change arrives: in places that are used again and again.
 *
 * 1. Whoever finds no place of its own takes that of an older one, which then is read from its bytes. Hundreds would have to be under way for that.
 * 2. No Map: see `Chain` in base for what becomes of one through which every write passes.
 */
import type { Revision } from "#store";
import type { StoredObject } from "./stored-object.ts";

const PLACES = 1024;

export class RecentWrites {
  #places: (StoredObject | undefined)[] = [];

  add(stored: StoredObject): void {
    const at = stored.revision % PLACES;
    // As long as it gets, it has no gaps.
    while (this.#places.length <= at) this.#places.push(undefined);
    this.#places[at] = stored;
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
