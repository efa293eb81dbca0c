/**
 * One feed with its window and the watches that read it, from its start until it ends or fails.
 *
 * 1. A watch that needs changes which the window lacks reads them from etcd, a slice at a time: memory is bounded,
 *    however slow or late a watch is.
 * 2. All watches end with the feed; `failure` says why.
 */

import { abortable, childController, isAbort } from "#base";
import { ChangeWindow, changeBytes } from "../history/change-window.ts";
import { type ChangeLog, type LogSlice, LogWatches } from "../history/log-watch.ts";
import { compactedError } from "../model/arguments.ts";
import type { Change, Revision, Watch, WatchOptions } from "../model/store.ts";
import type { Connection } from "./connection.ts";
import { follow } from "./feed.ts";
import { ownKey } from "./keys.ts";

const SLICE_BYTES = 4 * 1024 * 1024;
/** The time limit of a slice, so that a watch that has ended meanwhile stops reading soon. */
const SLICE_MS = 2000;

export interface SourceOptions {
  readonly connection: Connection;
  /** The feed delivers what comes after it. */
  readonly base: Revision;
  readonly windowBytes: number;
  /** The compacted revision, as far as this store knows. */
  readonly compacted: () => Revision;
}

interface Waiter {
  readonly revision: Revision;
  readonly resolve: () => void;
}

export class Source implements ChangeLog {
  readonly #options: SourceOptions;
  readonly #window: ChangeWindow;
  readonly #watches = new LogWatches(this);
  #waiters: Waiter[] = [];
  #failure: unknown;

  constructor(options: SourceOptions) {
    this.#options = options;
    this.#window = new ChangeWindow(options.base, options.windowBytes, ownKey);
  }

  get failure(): unknown {
    return this.#failure;
  }

  head(): Revision {
    return this.#window.head;
  }

  watch(prefix: string, options: WatchOptions): Watch {
    return this.#watches.watch(prefix, options);
  }

  read(prefix: string, after: Revision, limit: number): LogSlice | Promise<LogSlice> {
    const compacted = this.#options.compacted();
    if (after < compacted) throw compactedError(after, compacted);
    return this.#window.read(prefix, after, limit) ?? this.#readFromEtcd(prefix, after, limit);
  }

  /** Fills the window until the signal aborts, or etcd no longer has what comes next. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      for await (const batch of follow(this.#options.connection, this.#window.head, signal)) {
        for (const { key, revision } of this.#window.append(batch)) this.#watches.changed(key, revision);
        this.#wakeWaiters();
      }
    } catch (error) {
      if (!isAbort(error, signal)) this.#failure = error;
      throw error;
    } finally {
      this.close();
    }
  }

  /** Resolves when the window has come up to `revision`. */
  async reached(revision: Revision, signal: AbortSignal): Promise<void> {
    if (this.head() >= revision || this.#failure !== undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiters.push({ revision, resolve });
    await abortable(promise, signal);
  }

  close(): void {
    this.#watches.close();
    for (const { resolve } of this.#waiters.splice(0)) resolve();
  }

  #wakeWaiters(): void {
    const head = this.head();
    if (!this.#waiters.some(({ revision }) => revision <= head)) return;
    for (const waiter of this.#waiters) if (waiter.revision <= head) waiter.resolve();
    this.#waiters = this.#waiters.filter(({ revision }) => revision > head);
  }

  async #readFromEtcd(prefix: string, after: Revision, limit: number): Promise<LogSlice> {
    const { connection } = this.#options;
    using slow = childController(connection.signal);
    const timer = connection.clock.timer(SLICE_MS, () => slow.abort());
    const changes: Change[] = [];
    let bytes = 0;
    let through = after;
    try {
      for await (const batch of follow(connection, after, slow.signal)) {
        for (const change of batch.changes) {
          if (!change.key.startsWith(prefix) || ownKey(change.key)) continue;
          changes.push(change);
          bytes += changeBytes(change);
        }
        through = batch.revision;
        if (changes.length >= limit || bytes >= SLICE_BYTES || this.#window.holds(through)) break;
      }
    } catch (error) {
      if (!isAbort(error, slow.signal) || connection.signal.aborted) throw error;
    } finally {
      timer.cancel();
    }
    return { changes, through };
  }
}
