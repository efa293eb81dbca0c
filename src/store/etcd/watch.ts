/**
 * The watches of a store: they share one source of changes, which starts with the first of them.
 *
 * 1. Progress is never claimed ahead of delivery: the newest revision is read from the cluster, the feed reaches it,
 *    and only then the watches that requested progress get it.
 * 2. When etcd has compacted what the feed still needs, all watches end as Compacted, and the next one starts a new
 *    source.
 * 3. A watch ends at once when its signal aborts, even if etcd does not answer.
 */

import { abortable, Backoff, isAbort, type Logger, type Random, TaskGroup } from "#base";
import { checkPrefix, checkRevision, closedError } from "../model/arguments.ts";
import { isStoreError } from "../model/errors.ts";
import type { Revision, Watch, WatchBatch, WatchOptions } from "../model/store.ts";
import type { Connection } from "./connection.ts";
import { checkNotOwn } from "./keys.ts";
import type { KeyValues } from "./kv.ts";
import { ProgressRounds } from "./progress.ts";
import { Source } from "./source.ts";

const RETRY = { initialMs: 100, maxMs: 5000, jitter: 0.3 };

export interface EtcdWatchesOptions {
  readonly connection: Connection;
  readonly keyValues: KeyValues;
  readonly random: Random;
  readonly log: Logger;
  readonly windowBytes: number;
}

interface Session {
  readonly source: Source;
  readonly progress: ProgressRounds;
}

export class EtcdWatches {
  readonly #options: EtcdWatchesOptions;
  readonly #tasks: TaskGroup;
  #session: Promise<Session> | undefined;
  /** The compacted revision, as far as this store knows. */
  #compacted: Revision = 0;

  constructor(options: EtcdWatchesOptions) {
    this.#options = options;
    this.#tasks = new TaskGroup({ parent: options.connection.signal });
  }

  watch(prefix: string, options: WatchOptions): Watch {
    this.#checkOpen();
    checkPrefix(prefix);
    checkNotOwn(prefix);
    checkRevision(options.after);
    let ask: (() => void) | undefined;
    let askedEarly = false;
    const started = ({ source, progress }: Session): Watch => {
      const inner = source.watch(prefix, options);
      const report = () => inner.requestProgress();
      ask = () => progress.ask(report);
      if (askedEarly) ask();
      return inner;
    };
    return {
      requestProgress: () => {
        if (ask === undefined) askedEarly = true;
        else ask();
      },
      [Symbol.asyncIterator]: () => this.#iterate(options, started),
    };
  }

  /** Older watches fail from now on, even if the window still holds their changes. */
  compacted(revision: Revision): void {
    this.#compacted = Math.max(this.#compacted, revision);
  }

  async close(): Promise<void> {
    await this.#tasks.stop(closedError());
  }

  async *#iterate(
    { after, signal }: WatchOptions,
    start: (session: Session) => Watch,
  ): AsyncGenerator<WatchBatch, void, undefined> {
    let session: Session | undefined;
    let iterator: AsyncIterator<WatchBatch> | undefined;
    try {
      if (signal.aborted) return;
      session = await abortable(this.#sessionFrom(after), signal);
      iterator = start(session)[Symbol.asyncIterator]();
      for (;;) {
        const step = await abortable(iterator.next(), signal);
        if (step.done === true) return;
        yield step.value;
      }
    } catch (error) {
      if (isAbort(error, signal)) return;
      // A source that fails also closes its watches: then its failure is the error.
      throw isStoreError(error, "Closed") ? (session?.source.failure ?? error) : error;
    } finally {
      if (iterator !== undefined) this.#leave(iterator);
    }
  }

  /** A read from etcd that outlives its watch is awaited by `close`, not by the reader. */
  #leave(iterator: AsyncIterator<WatchBatch>): void {
    if (this.#tasks.signal.aborted) return;
    this.#tasks.run("end of a watch", async () => {
      await iterator.return?.();
    });
  }

  #checkOpen(): void {
    if (this.#tasks.signal.aborted) throw closedError();
  }

  #sessionFrom(after: Revision): Promise<Session> {
    this.#checkOpen();
    this.#session ??= this.#start(after);
    return this.#session;
  }

  async #start(after: Revision): Promise<Session> {
    const { connection, windowBytes, log } = this.#options;
    const tasks = this.#tasks;
    const newest = (signal: AbortSignal) => this.#newest(signal);
    // The first watch usually starts at the revision of the first list: the window then serves all later watches.
    const base = Math.min(after, await newest(tasks.signal));
    const source = new Source({ connection, base, windowBytes, compacted: () => this.#compacted });
    tasks.run("watch feed", async (signal) => {
      try {
        await source.run(signal);
      } catch (error) {
        this.#session = undefined;
        if (!isAbort(error, signal))
          log.warn("The feed of changes from etcd has ended; watches start anew.", { error });
      }
    });
    return { source, progress: new ProgressRounds({ tasks, newest, reached: source.reached.bind(source) }) };
  }

  /** The cluster's revision; retries until there is an answer. */
  async #newest(signal: AbortSignal): Promise<Revision> {
    const { keyValues, connection, random, log } = this.#options;
    const backoff = new Backoff(RETRY, random);
    for (;;) {
      try {
        return await keyValues.revision();
      } catch (error) {
        if (!isStoreError(error, "Unavailable")) throw error;
        log.warn("Watches wait for etcd.", { error });
        await connection.clock.sleep(backoff.next(), signal);
      }
    }
  }
}
