/** Work on APIServices by name: workers on a queue, each name by one at a time, failures told and tried again. */
import { type BackoffOptions, type Clock, type Logger, processQueue, type Random, WorkQueue } from "#base";

export interface ReconcilerOptions {
  readonly what: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly backoff: BackoffOptions;
  readonly concurrency: number;
}

/** Work that has not come to its end, and has told that already: it is tried again, without a word. */
export class Unfinished extends Error {
  override readonly name = "Unfinished";
}

export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #queue: WorkQueue;

  constructor(options: ReconcilerOptions) {
    const { clock, random, backoff } = options;
    this.#options = options;
    this.#queue = new WorkQueue({ clock, random, backoff });
  }

  add(name: string): void {
    this.#queue.add(name);
  }

  addAfter(name: string, ms: number): void {
    this.#queue.addAfter(name, ms);
  }

  /** Until the signal aborts. */
  async run(signal: AbortSignal, work: (name: string, signal: AbortSignal) => Promise<void>): Promise<void> {
    const { what, log, concurrency } = this.#options;
    const onFailure = (error: unknown, name: string) => {
      if (!(error instanceof Unfinished))
        log.warn(`${what} of an APIService could not be brought up to date; trying again`, { name, error });
      return "retry" as const;
    };
    try {
      await processQueue(this.#queue, { signal, concurrency, onFailure }, work);
    } finally {
      this.#queue.close();
    }
  }
}
