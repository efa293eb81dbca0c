/**
 * Reads a watch step by step and holds it to its contract while doing so:
 *
 * 1. changes come in rising order of revision, after the watch's start, and only for keys with its prefix;
 * 2. a batch's revision never goes back, covers the batch's own changes, and no later batch holds a change it covered.
 */

import type { Change, Revision, Store, Watch, WatchBatch } from "../model/store.ts";

export class WatchReader {
  readonly watch: Watch;
  readonly received: Change[] = [];
  /** Everything up to here has been delivered. */
  revision: Revision;
  readonly #prefix: string;
  readonly #abort = new AbortController();
  readonly #iterator: AsyncIterator<WatchBatch>;

  constructor(store: Store, prefix: string, after: Revision) {
    this.watch = store.watch(prefix, { after, signal: this.#abort.signal });
    this.revision = after;
    this.#prefix = prefix;
    this.#iterator = this.watch[Symbol.asyncIterator]();
  }

  /** One more batch; undefined when the watch has ended. */
  async next(): Promise<WatchBatch | undefined> {
    const step = await this.#iterator.next();
    if (step.done === true) return undefined;
    this.#check(step.value);
    return step.value;
  }

  /** Reads until `count` changes have come in all. */
  async changes(count: number): Promise<readonly Change[]> {
    while (this.received.length < count) await this.#must();
    return this.received;
  }

  /** Reads until everything up to `revision` has been delivered. */
  async through(revision: Revision): Promise<readonly Change[]> {
    while (this.revision < revision) await this.#must();
    return this.received;
  }

  /** Asks for progress and reads until it has come. */
  async catchUp(revision: Revision): Promise<readonly Change[]> {
    this.watch.requestProgress();
    return this.through(revision);
  }

  abort(): void {
    this.#abort.abort();
  }

  /** Aborts, and waits until the iteration has ended. */
  async stop(): Promise<void> {
    this.abort();
    while ((await this.next()) !== undefined);
  }

  async #must(): Promise<void> {
    if ((await this.next()) === undefined) throw new Error(`The watch of ${this.#prefix} ended early.`);
  }

  #check(batch: WatchBatch): void {
    let last = this.revision;
    for (const change of batch.changes) {
      if (change.revision <= last) throw new Error(`Change ${change.revision} came after ${last} had been delivered.`);
      if (!change.key.startsWith(this.#prefix)) throw new Error(`${change.key} does not belong to ${this.#prefix}.`);
      last = change.revision;
      this.received.push(change);
    }
    if (batch.revision < last) throw new Error(`A batch at ${batch.revision} follows or holds revision ${last}.`);
    this.revision = batch.revision;
  }
}
