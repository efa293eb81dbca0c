/** Work that goes on beside the attempts: bindings, statuses. Bounded, and awaited at the end. */
import { Chain, isAbort, Link, type Logger } from "#base";

/** An API server that is fair to others turns away who has more than some hundred requests waiting. */
const MAX_RUNNING = 200;

export class SideTasks {
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  readonly #running = new Chain<Link<Promise<void>>>();
  #room: PromiseWithResolvers<void> | undefined;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(log: Logger, signal: AbortSignal) {
    this.#log = log;
    this.#signal = signal;
  }

  get size(): number {
    return this.#running.size;
  }

  run(what: string, work: () => Promise<void>): void {
    const task = this.#watched(what, work);
    const link = new Link(task);
    this.#running.add(link);
    void task.then(() => {
      this.#running.delete(link);
      if (this.#running.size < MAX_RUNNING) this.#room?.resolve();
      if (this.#running.size > 0) return;
      this.#idle?.resolve();
      this.#idle = undefined;
    });
  }

  /** Undefined: there is room now. */
  room(): Promise<void> | undefined {
    if (this.#running.size < MAX_RUNNING) return undefined;
    this.#room = Promise.withResolvers<void>();
    return this.#room.promise;
  }

  /** When nothing is under way, for a moment at least. */
  idle(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    this.#idle ??= Promise.withResolvers<void>();
    return this.#idle.promise;
  }

  async done(): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running].map(({ value }) => value));
  }

  /** Never rejects. */
  async #watched(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isAbort(error, this.#signal)) this.#log.error(`${what} failed`, { error });
    }
  }
}
