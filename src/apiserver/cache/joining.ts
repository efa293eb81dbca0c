/**
 * Stands in for a subscriber that joins the feed late, until that knows what was there before.
 *
 *     feed --► joining ··· the store is listed ··· ──► subscriber: the list, then what came after it
 *
 * 1. Nothing is lost, and nothing comes twice: of the changes that were kept, those that the list shows already are left out.
 * 2. If the feed itself starts again meanwhile, its list is the newer one and counts.
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
