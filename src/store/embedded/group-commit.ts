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
import { closedError } from "../arguments.ts";
import { isStoreError } from "../errors.ts";
import type { Revision, WriteOutcome } from "../store.ts";
import { type Durable, decide, type Write } from "./decide.ts";
import type { LogRecord, State } from "./records.ts";
import type { Batch } from "./tables.ts";

/** Where batches go: the tables, seen from here. Reads show the last commit that has resolved. */
export interface CommitTarget extends Durable {
  commit(batch: Batch): Promise<void>;
}

/** What a step of maintenance wants to change, decided when its batch starts. */
export interface Maintenance {
  readonly dropped: readonly Revision[];
  readonly compacted: Revision;
}

type Step = (state: State) => Maintenance;

interface Queued<Task, Answer> {
  readonly task: Task;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

type QueuedWrite = Queued<Write, WriteOutcome>;
type QueuedStep = Queued<Step, void>;

/** A batch holds no more than this: a longer one would keep its first writers waiting. The first write always fits. */
const MAX_BATCH_WRITES = 4096;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;

export class GroupCommit {
  readonly #target: CommitTarget;
  readonly #committed: (records: readonly LogRecord[]) => void;
  #state: State;
  #writes: QueuedWrite[] = [];
  #steps: QueuedStep[] = [];
  #running: Promise<void> | undefined;
  /** Why nothing more is taken: closed, or a failure that a retry would not mend. */
  #refusal: unknown;
  #failed = false;

  /** `committed` is called in the turn in which `state` comes to show the new head. */
  constructor(target: CommitTarget, state: State, committed: (records: readonly LogRecord[]) => void) {
    this.#target = target;
    this.#state = state;
    this.#committed = committed;
  }

  /** What is durable. */
  get state(): State {
    return this.#state;
  }

  /** Writing has failed in a way that only a new start can mend. */
  get failed(): boolean {
    return this.#failed;
  }

  write(task: Write): Promise<WriteOutcome> {
    return this.#queue(this.#writes, task);
  }

  /** Runs a step in the transaction of the next batch. */
  maintain(task: Step): Promise<void> {
    return this.#queue(this.#steps, task);
  }

  /** Commits what has been queued and takes nothing more. */
  async close(): Promise<void> {
    this.#refusal ??= closedError();
    await this.#running;
  }

  #queue<Task, Answer>(queue: Queued<Task, Answer>[], task: Task): Promise<Answer> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal);
    return new Promise((resolve, reject) => {
      queue.push({ task, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  async #run(): Promise<void> {
    while (this.#writes.length > 0 || this.#steps.length > 0) {
      // Whoever was just answered, or whose request is being read right now, may want to write again: let them come along.
      await nextTurn();
      await this.#runBatch(this.#takeWrites(), this.#steps.shift());
    }
    this.#running = undefined;
  }

  async #runBatch(writes: readonly QueuedWrite[], step: QueuedStep | undefined): Promise<void> {
    try {
      const { added, decisions } = decide(
        writes.map(({ task }) => task),
        this.#state.head,
        this.#target,
      );
      const { dropped = [], compacted = this.#state.compacted } = this.#maintenance(step) ?? {};
      const state = { ...this.#state, head: this.#state.head + added.length, compacted };
      if (added.length > 0 || step !== undefined) await this.#target.commit({ added, dropped, state });
      this.#state = state;
      this.#committed(added);
      for (const [i, { resolve, reject }] of writes.entries()) {
        const decision = decisions[i];
        if (decision !== undefined && "ok" in decision) resolve(decision);
        else reject(decision?.failure);
      }
      step?.resolve();
    } catch (error) {
      for (const { reject } of writes) reject(error);
      step?.reject(error);
      if (isStoreError(error, "Unavailable")) this.#giveUp(error);
    }
  }

  /** A step that cannot be decided fails alone. */
  #maintenance(step: QueuedStep | undefined): Maintenance | undefined {
    try {
      return step?.task(this.#state);
    } catch (error) {
      step?.reject(error);
      return undefined;
    }
  }

  #giveUp(error: unknown): void {
    this.#failed = true;
    this.#refusal ??= error;
    for (const { reject } of this.#writes.splice(0)) reject(error);
    for (const { reject } of this.#steps.splice(0)) reject(error);
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
