/**
 * Group commit: everything that arrives while one commit is on its way to the disk goes with the next one.
 *
 * 1. One batch is under way at a time. Calls only queue; the batch is decided when the one before is durable.
 * 2. Each compare-and-swap is decided against the durable state and the writes before it in the same batch.
 * 3. Nobody is answered, not even the refused, and no watcher is told before the batch is durable.
 * 4. A failed batch is rejected as a whole. If it found no space, nothing has changed, and the next one starts from the
 *    durable state again; after any other failure nothing more is taken.
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
  /** Reads see from now on what has been committed. */
  show(added: readonly LogRecord[]): void;
}

interface QueuedWrite {
  readonly task: Write;
  resolve(outcome: WriteOutcome): void;
  reject(error: unknown): void;
}

/** A batch holds no more than this: a longer one would keep its first writers waiting. The first write always fits. */
const MAX_BATCH_WRITES = 4096;
const MAX_BATCH_BYTES = 1024 * 1024;

export class GroupCommit {
  readonly #target: CommitTarget;
  readonly #committed: (records: readonly LogRecord[]) => void;
  #head: Revision;
  #writes: QueuedWrite[] = [];
  #running: Promise<void> | undefined;
  /** Why nothing more is taken: closed, or a failure that a retry would not mend. */
  #refusal: unknown;

  /** `committed` is called in the turn in which `head` and the target's reads come to show these records. */
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

  /** Commits what has been queued and takes nothing more. */
  async close(): Promise<void> {
    this.#refusal ??= closedError();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#writes.length > 0) {
      // Whoever was just answered, or whose request is being read right now, may want to write again: let them come along.
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
