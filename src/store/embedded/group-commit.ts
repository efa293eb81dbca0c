/**
 * Group commit: all writes that arrive during one commit are part of the next one.
 *
 * 1. One batch is under way at a time. Calls only queue; the batch is decided when the one before is durable.
 * 2. Each compare-and-swap is decided against the durable state and the writes before it in the same batch.
 * 3. No call is answered, not even a refused one, and no watcher is notified before the batch is durable.
 * 4. A failed batch is rejected as a whole. If it found no space, nothing has changed, and the next one starts from the
 *    durable state again; after any other failure no more writes are accepted.
 */

import { nextTurn } from "#base";
import { closedError } from "../model/arguments.ts";
import { isStoreError } from "../model/errors.ts";
import type { Revision, WriteOutcome } from "../model/store.ts";
import { type Durable, decide, type Write } from "./decide.ts";
import type { LogRecord } from "./records.ts";

/** Where batches go. */
export interface CommitTarget extends Durable {
  /** Durable when it resolves. */
  commit(added: readonly LogRecord[]): Promise<void>;
  /** Makes the commit visible to reads. */
  show(added: readonly LogRecord[]): void;
}

interface QueuedWrite {
  readonly task: Write;
  resolve(outcome: WriteOutcome): void;
  reject(error: unknown): void;
}

/** The limit of a batch: a longer one would delay its first writers. The first write always fits. */
const MAX_BATCH_WRITES = 4096;
const MAX_BATCH_BYTES = 1024 * 1024;

export class GroupCommit {
  readonly #target: CommitTarget;
  readonly #committed: (records: readonly LogRecord[]) => void;
  #head: Revision;
  #writes: QueuedWrite[] = [];
  #running: Promise<void> | undefined;
  /** Why no more writes are accepted: closed, or a permanent failure. */
  #refusal: unknown;

  /** `committed` is called in the turn of the event loop in which these records become visible. */
  constructor(target: CommitTarget, head: Revision, committed: (records: readonly LogRecord[]) => void) {
    this.#target = target;
    this.#head = head;
    this.#committed = committed;
  }

  /** The newest revision that is durable. */
  get head(): Revision {
    return this.#head;
  }

  write(task: Write): Promise<WriteOutcome> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal);
    return new Promise((resolve, reject) => {
      this.#writes.push({ task, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Commits the queued writes and accepts no more. */
  async close(): Promise<void> {
    this.#refusal ??= closedError();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#writes.length > 0) {
      // Callers that were just answered may write again at once: wait for the event loop, so that these writes join the
      // batch.
      await nextTurn();
      await this.#runBatch(this.#takeWrites());
    }
    this.#running = undefined;
  }

  async #runBatch(writes: readonly QueuedWrite[]): Promise<void> {
    try {
      const { added, decisions } = decide(
        writes.map(({ task }) => task),
        this.#head,
        this.#target,
      );
      if (added.length > 0) {
        await this.#target.commit(added);
        this.#target.show(added);
        this.#head += added.length;
        this.#committed(added);
      }
      for (const [i, { resolve, reject }] of writes.entries()) {
        const decision = decisions[i];
        if (decision !== undefined && "ok" in decision) resolve(decision);
        else reject(decision?.failure);
      }
    } catch (error) {
      for (const { reject } of writes) reject(error);
      if (isStoreError(error, "Unavailable")) this.#giveUp(error);
    }
  }

  #giveUp(error: unknown): void {
    this.#refusal ??= error;
    for (const { reject } of this.#writes.splice(0)) reject(error);
  }

  #takeWrites(): readonly QueuedWrite[] {
    let count = 0;
    for (let bytes = 0; count < this.#writes.length && count < MAX_BATCH_WRITES; count++) {
      bytes += this.#writes[count]?.task.value?.length ?? 0;
      if (bytes > MAX_BATCH_BYTES && count > 0) break;
    }
    if (count < this.#writes.length) return this.#writes.splice(0, count);
    const all = this.#writes;
    this.#writes = [];
    return all;
  }
}
