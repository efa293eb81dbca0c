/**
 * The newest revision that anybody may have seen, for all threads: read without a message.
 *
 * 1. It is raised before a write is answered and before a change is delivered, on whatever thread that happens: who has
 *    waited until caches show it sees everything that was answered or shown before.
 */
import type { Revision } from "../model/store.ts";

export class NewestRevision {
  readonly memory: SharedArrayBuffer;
  readonly #cell: BigInt64Array;

  constructor(memory = new SharedArrayBuffer(8)) {
    this.memory = memory;
    this.#cell = new BigInt64Array(memory);
  }

  get(): Revision {
    return Number(Atomics.load(this.#cell, 0));
  }

  /** Only the thread of the store raises it. */
  raise(revision: Revision): void {
    if (revision > this.get()) Atomics.store(this.#cell, 0, BigInt(revision));
  }
}
