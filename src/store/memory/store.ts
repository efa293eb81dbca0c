/**
 * The store in memory: nothing survives the process, and a fork is O(1).
 *
 * 1. Every call does its work synchronously and returns a resolved promise.
 * 2. Forks share what they have in common and never see each other's later writes; watches stay with their store.
 * 3. History is bounded by the policy, so that memory stays bounded.
 */

import type { Clock } from "#base";
import { DEFAULT_HISTORY, HistoryKeeper, type HistoryPolicy } from "../history/history.ts";
import { LogWatches } from "../history/log-watch.ts";
import {
  checkKey,
  checkList,
  checkPrefix,
  checkReadable,
  checkRevision,
  closedError,
  compactedError,
  futureError,
} from "../model/arguments.ts";
import type { Entry, ListOptions, Page, Revision, Store, Watch, WatchOptions, WriteOutcome } from "../model/store.ts";
import { type MemorySnapshot, MemoryState } from "./state.ts";

export interface MemoryOptions {
  readonly clock: Clock;
  readonly history?: Partial<HistoryPolicy>;
}

export class MemoryStore implements Store {
  readonly #options: MemoryOptions;
  readonly #state: MemoryState;
  readonly #watches: LogWatches;
  readonly #history: HistoryKeeper;
  readonly #end = new AbortController();

  constructor(options: MemoryOptions, state = new MemoryState(0)) {
    this.#options = options;
    this.#state = state;
    this.#watches = new LogWatches({
      head: () => state.revision,
      read: (prefix, after, limit) => {
        if (after < state.compacted) throw compactedError(after, state.compacted);
        return state.readLog(prefix, after, limit);
      },
    });
    const keeping = {
      clock: options.clock,
      policy: { ...DEFAULT_HISTORY, ...options.history },
      signal: this.#end.signal,
      compact: (revision: Revision) => state.compact(revision),
      // Compaction in memory cannot fail; if it does, it must not go unnoticed.
      failed: (error: unknown) => {
        throw error;
      },
    };
    this.#history = new HistoryKeeper(keeping, state.compacted, state.revision);
  }

  /** An independent store with the same content. O(1). */
  fork(): MemoryStore {
    this.#checkOpen();
    return new MemoryStore(this.#options, this.#state.fork());
  }

  /** The current content, to be read later or to open stores from: see `openMemoryStore`. O(1). */
  snapshot(): MemorySnapshot {
    this.#checkOpen();
    return this.#state.fork();
  }

  /** How many nodes of its trees had to be copied because they were shared with a fork. */
  get copies(): number {
    return this.#state.copies;
  }

  async get(key: string): Promise<Entry | undefined> {
    this.#checkOpen();
    checkKey(key);
    return this.#state.get(key);
  }

  async list(prefix: string, options: ListOptions = {}): Promise<Page> {
    this.#checkOpen();
    checkList(prefix, options);
    const { revision, compacted } = this.#state;
    checkReadable(options.revision ?? revision, compacted, revision);
    return this.#state.list(prefix, options);
  }

  async count(prefix: string): Promise<number> {
    this.#checkOpen();
    checkPrefix(prefix);
    return this.#state.count(prefix);
  }

  async create(key: string, value: Buffer): Promise<WriteOutcome> {
    return this.#write(key, value, undefined);
  }

  async update(key: string, value: Buffer, expected: Revision): Promise<WriteOutcome> {
    return this.#write(key, value, expected);
  }

  async delete(key: string, expected: Revision): Promise<WriteOutcome> {
    return this.#write(key, undefined, expected);
  }

  watch(prefix: string, options: WatchOptions): Watch {
    return this.#watches.watch(prefix, options);
  }

  async revision(): Promise<Revision> {
    this.#checkOpen();
    return this.#state.revision;
  }

  async compact(revision: Revision): Promise<void> {
    this.#checkOpen();
    checkRevision(revision);
    if (revision > this.#state.revision) throw futureError(revision, this.#state.revision);
    this.#state.compact(revision);
  }

  async close(): Promise<void> {
    this.#end.abort();
    this.#watches.close();
  }

  /** Without a value: a deletion. `expected` undefined: the key must be absent. */
  #write(key: string, value: Buffer | undefined, expected: Revision | undefined): WriteOutcome {
    this.#checkOpen();
    checkKey(key);
    if (expected !== undefined) checkRevision(expected);
    const current = this.#state.get(key);
    if (current?.revision !== expected) return { ok: false, current };
    const { revision, previous } = this.#state.write(key, value);
    this.#watches.changed(key, revision);
    this.#history.wrote(revision, previous?.value.length ?? 0);
    return { ok: true, revision };
  }

  #checkOpen(): void {
    if (this.#end.signal.aborted) throw closedError();
  }
}
