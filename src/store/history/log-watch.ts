/**
 * Watches as cursors over a shared log of changes, for backends that keep one.
 *
 * 1. A watch holds no changes: it reads the log from its cursor on demand.
 * 2. A watch that has read everything is woken only by a change to its prefix or a progress request; until then it also
 *    survives any compaction.
 * 3. A watch that needs compacted history fails as Compacted: `ChangeLog.read` throws that.
 * 4. A watch ends without an error with its signal, and as Closed when the log closes.
 */

import { checkPrefix, checkRevision, closedError } from "../model/arguments.ts";
import type { Change, Revision, Watch, WatchBatch, WatchOptions } from "../model/store.ts";
import { PrefixIndex } from "./prefix-index.ts";

/** A batch holds no more changes than this. */
export const MAX_BATCH_CHANGES = 1000;

export interface LogSlice {
  readonly changes: readonly Change[];
  /** All changes to the prefix up to and including this revision are in the slice, or lie before its start. */
  readonly through: Revision;
}

/** The log of a backend. `read` may be synchronous or not. */
export interface ChangeLog {
  /** The newest revision that `read` returns: durable, if the backend is. */
  head(): Revision;
  /** Up to `limit` changes to keys with this prefix after a revision. Throws Compacted if some are gone. */
  read(prefix: string, after: Revision, limit: number): LogSlice | Promise<LogSlice>;
}

export class LogWatches {
  readonly #log: ChangeLog;
  readonly #cursors = new PrefixIndex<Cursor>();
  #closed = false;

  constructor(log: ChangeLog) {
    this.#log = log;
  }

  watch(prefix: string, { after, signal }: WatchOptions): Watch {
    checkPrefix(prefix);
    checkRevision(after);
    const cursor = new Cursor(this.#log, prefix, after, signal);
    return {
      requestProgress: () => cursor.requestProgress(),
      [Symbol.asyncIterator]: () => this.#iterate(cursor),
    };
  }

  /** To be called for each change, in order, in the same turn of the event loop in which `head` includes it. */
  changed(key: string, revision: Revision): void {
    this.#cursors.visit(key, (cursor) => cursor.changed(revision));
  }

  /** Changes up to here were not announced one by one: every watch may have missed some. */
  changedAnywhere(revision: Revision): void {
    for (const cursor of this.#cursors) cursor.skipped(revision);
  }

  close(): void {
    this.#closed = true;
    for (const cursor of this.#cursors) cursor.wake();
  }

  async *#iterate(cursor: Cursor): AsyncGenerator<WatchBatch, void, undefined> {
    const { prefix, signal } = cursor;
    const wake = (): void => cursor.wake();
    cursor.start();
    this.#cursors.add(prefix, cursor);
    signal.addEventListener("abort", wake);
    try {
      while (!signal.aborted) {
        if (this.#closed) throw closedError();
        const batch = cursor.behind ? await cursor.read() : cursor.progress();
        if (signal.aborted) return;
        if (batch !== undefined) yield batch;
        else if (!cursor.behind) await cursor.sleep();
      }
    } finally {
      signal.removeEventListener("abort", wake);
      this.#cursors.remove(prefix, cursor);
    }
  }
}

class Cursor {
  readonly prefix: string;
  readonly signal: AbortSignal;
  readonly #log: ChangeLog;
  /** Everything up to here has been delivered. */
  #delivered: Revision;
  /** Where to read the log from; undefined while all known changes to the prefix are delivered. */
  #readAfter: Revision | undefined;
  /** The newest change to the prefix that was announced. */
  #announced: Revision = 0;
  #progressAsked = false;
  #wake: (() => void) | undefined;
  /** It was woken while not asleep: the next sleep ends at once. */
  #woken = false;

  constructor(log: ChangeLog, prefix: string, after: Revision, signal: AbortSignal) {
    this.#log = log;
    this.prefix = prefix;
    this.#delivered = after;
    this.signal = signal;
  }

  get behind(): boolean {
    return this.#readAfter !== undefined;
  }

  /** From here on, `changed` is called for every change. */
  start(): void {
    this.#readAfter = this.#delivered < this.#log.head() ? this.#delivered : undefined;
  }

  changed(revision: Revision): void {
    this.#announced = revision;
    if (this.behind || revision <= this.#delivered) return;
    this.#readAfter = revision - 1;
    this.wake();
  }

  skipped(revision: Revision): void {
    this.#announced = revision;
    if (this.behind || revision <= this.#delivered) return;
    this.#readAfter = this.#delivered;
    this.wake();
  }

  requestProgress(): void {
    this.#progressAsked = true;
    this.wake();
  }

  async read(): Promise<WatchBatch | undefined> {
    const asked = this.#progressAsked;
    const head = this.#log.head();
    const { changes, through } = await this.#log.read(
      this.prefix,
      this.#readAfter ?? this.#delivered,
      MAX_BATCH_CHANGES,
    );
    this.#delivered = Math.max(this.#delivered, through);
    // Changes after `head` are announced separately: other keys' changes are no reason to read on.
    this.#readAfter = through < head || through < this.#announced ? through : undefined;
    const progressed = asked && through >= head;
    if (progressed) this.#progressAsked = false;
    return changes.length > 0 || progressed ? { changes, revision: this.#delivered } : undefined;
  }

  /** The empty batch that answers a progress request, if there was one. */
  progress(): WatchBatch | undefined {
    if (!this.#progressAsked) return undefined;
    this.#progressAsked = false;
    this.#delivered = Math.max(this.#delivered, this.#log.head());
    return { changes: [], revision: this.#delivered };
  }

  async sleep(): Promise<void> {
    if (!this.#woken) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#woken = false;
  }

  wake(): void {
    this.#woken = true;
    this.#wake?.();
    this.#wake = undefined;
  }
}
