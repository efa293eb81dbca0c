/**
 * The threads that serve requests besides the first: each is a whole API server over the first one's store
 * (docs/adr/0031-serving-threads.md).
 *
 *     first thread: store, controllers, its own API server ──► ServingThreads ──► thread ──► thread …
 *     clients ──► one port, on which each thread listens: the kernel spreads connections
 *
 * 1. A thread that ends is replaced, after a while if that happens often. Its connections close; what it acknowledged
 *    is in the store.
 * 2. They stop together with the first thread's server. One that does not stop in time is ended.
 */
import { Backoff, type Clock, isAbort, type Logger, type Random, type TaskGroup } from "#base";
import type { ServingPki } from "../config/serving-pki.ts";
import { HostedThread, type ThreadHostOptions } from "./hosted-thread.ts";
import { mergedMetrics } from "./merged-metrics.ts";

const REPLACE = { initialMs: 100, maxMs: 30_000, jitter: 0.2 };
/** A thread that served for so long was no failed start. */
const SERVED_MS = 60_000;
/** Beyond what stopping the first one takes. */
const STOP_WITHIN_MS = 10_000;

export interface ServingThreadsOptions extends ThreadHostOptions {
  readonly background: TaskGroup;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export class ServingThreads {
  readonly #options: ServingThreadsOptions;
  readonly #threads = new Set<HostedThread>();
  #names = 0;
  #pki: ServingPki | undefined;
  #stopping = false;

  constructor(options: ServingThreadsOptions) {
    this.#options = options;
  }

  /** One more. Resolves when it serves for the first time, or does not. */
  add(): Promise<void> {
    const name = `serving-${++this.#names}`;
    const first = Promise.withResolvers<void>();
    this.#options.background.run(name, (signal) => this.#keep(name, signal, first.resolve));
    return first.promise;
  }

  get serving(): number {
    return [...this.#threads].filter(({ isServing }) => isServing).length;
  }

  async terminateOne(): Promise<void> {
    for (const thread of this.#threads) return thread.terminate();
  }

  renew(pki: ServingPki): void {
    this.#pki = pki;
    for (const thread of this.#threads) thread.renew(pki);
  }

  /** The metrics of all threads as one text, with the first one's. */
  async metrics(own: string): Promise<string> {
    const serving = [...this.#threads].filter(({ isServing }) => isServing);
    const texts = await Promise.all(serving.map((thread) => thread.metrics()));
    return mergedMetrics(
      own,
      texts.filter((text) => text !== undefined),
    );
  }

  /** `ownStop`: the stop of the first thread's server, which takes as long as theirs. */
  async stop(ownStop: Promise<void>): Promise<void> {
    this.#stopping = true;
    const { clock } = this.#options;
    const threads = [...this.#threads];
    for (const thread of threads) thread.stop();
    const ended = Promise.all(threads.map((thread) => thread.ended));
    await Promise.race([ended, ownStop]);
    const late = clock.timer(STOP_WITHIN_MS, () => {
      for (const thread of threads) void thread.terminate();
    });
    await ended;
    late.cancel();
  }

  /** Runs one thread after the other until the signal aborts. */
  async #keep(name: string, signal: AbortSignal, known: () => void): Promise<void> {
    const { clock, random, log } = this.#options;
    const backoff = new Backoff(REPLACE, random);
    while (!signal.aborted && !this.#stopping) {
      const startedMs = clock.monotonic();
      const thread = new HostedThread(this.#options, name);
      this.#threads.add(thread);
      thread.serving.then(
        () => {
          if (this.#pki !== undefined) thread.renew(this.#pki);
          known();
          log.info("a serving thread has started", { thread: name, ms: Math.round(clock.monotonic() - startedMs) });
        },
        () => known(),
      );
      const error = await thread.ended;
      this.#threads.delete(thread);
      if (this.#stopping || signal.aborted) return;
      log.error("a serving thread ended; another takes its place", { thread: name, error });
      if (clock.monotonic() - startedMs > SERVED_MS) backoff.reset();
      try {
        await clock.sleep(backoff.next(), signal);
      } catch (aborted) {
        if (!isAbort(aborted, signal)) throw aborted;
      }
    }
  }
}
