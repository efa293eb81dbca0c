/** Reconciles APIServices by name: workers on a queue, one worker for a name at a time, failures logged and retried. */
import { type BackoffOptions, type Clock, type Logger, processQueue, type Random, WorkQueue } from "#base";

export interface ReconcilerOptions {
  /** For log lines. */
  readonly task: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly backoff: BackoffOptions;
  readonly concurrency: number;
}

/** Thrown by work that is unfinished and has reported that itself: it is retried without a log line. */
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
    const { task, log, concurrency } = this.#options;
    const onFailure = (error: unknown, name: string) => {
      if (!(error instanceof Unfinished)) log.warn(`${task} of an APIService failed; trying again`, { name, error });
      return "retry" as const;
    };
    try {
      await processQueue(this.#queue, { signal, concurrency, onFailure }, work);
    } finally {
      this.#queue.close();
    }
  }
}
