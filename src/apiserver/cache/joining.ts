/**
 * Buffers changes for a subscriber that joins a running feed, until the store has been listed.
 *
 *     feed --► joining ··· the store is listed ··· ──► subscriber: the list, then the changes after it
 *
 * 1. No change is lost or delivered twice: buffered changes that the list contains are dropped.
 * 2. If the feed lists anew meanwhile, that list is newer and is used instead.
 */
import type { Change, Entry, Revision } from "#store";
import type { Subscriber } from "./feed.ts";

export class Joining implements Subscriber {
  readonly prefix: string;
  #changes: Change[] = [];
  #state: { readonly entries: readonly Entry[]; readonly revision: Revision } | undefined;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  replace(entries: readonly Entry[], revision: Revision): void {
    this.#state = { entries, revision };
    this.#changes = [];
  }

  change(change: Change): void {
    this.#changes.push(change);
  }

  /** The feed must have reached `revision`. */
  handOver(subscriber: Subscriber, entries: readonly Entry[], revision: Revision): void {
    const state = this.#state !== undefined && this.#state.revision >= revision ? this.#state : { entries, revision };
    subscriber.replace(state.entries, state.revision);
    for (const change of this.#changes) if (change.revision > state.revision) subscriber.change(change);
  }
}
