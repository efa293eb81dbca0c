/**
 * Work that runs concurrently with the attempts: bindings and status updates. Bounded, and awaited at shutdown.
 *
 * 1. A task that waits for others, such as a volume or a permit, gives up its slot after a second: a task that waits
 *    for minutes must not stop the scheduler.
 */
import { Chain, type Clock, isAbort, Link, type Logger, type Timer } from "#base";

/** Priority and fairness rejects clients with more than some hundred requests in the queue. */
const MAX_RUNNING = 200;
/** A task that has waited this long is assumed to send no requests. */
const WAITING_MS = 1000;

export class BackgroundTasks {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #running = new Chain<Link<Promise<void>>>();
  /** Start times of waiting tasks that still hold a slot, oldest first. */
  readonly #waiting = new Chain<Link<number>>();
  /** Number of waiting tasks without a slot. */
  #aside = 0;
  #timer: Timer | undefined;
  #room: PromiseWithResolvers<void> | undefined;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(log: Logger, clock: Clock, signal: AbortSignal) {
    this.#log = log;
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Number of tasks that hold a slot. */
  get size(): number {
    return this.#running.size - this.#aside;
  }

  run(what: string, work: () => Promise<void>): void {
    const task = this.#watched(what, work);
    const link = new Link(task);
    this.#running.add(link);
    void task.then(() => {
      this.#running.delete(link);
      if (this.#hasRoom) this.#room?.resolve();
      if (this.#running.size > 0) return;
      this.#idle?.resolve();
      this.#idle = undefined;
    });
  }

  /** Called within a task that waits for others. */
  async wait<T>(until: Promise<T>): Promise<T> {
    const link = new Link(this.#clock.monotonic());
    this.#waiting.add(link);
    if (!this.#hasRoom) this.#setAside();
    try {
      return await until;
    } finally {
      if (!this.#waiting.delete(link)) this.#aside -= 1;
    }
  }

  /** Undefined if a slot is free. */
  room(): Promise<void> | undefined {
    if (this.#hasRoom) return undefined;
    this.#setAside();
    if (this.#hasRoom) return undefined;
    this.#room = Promise.withResolvers<void>();
    return this.#room.promise;
  }

  get #hasRoom(): boolean {
    return this.size < MAX_RUNNING;
  }

  /** Takes slots from tasks that have waited long, and schedules itself for the next one while slots are needed. */
  #setAside(): void {
    const now = this.#clock.monotonic();
    for (let next = this.#waiting.first; next !== undefined; next = this.#waiting.first) {
      if (now - next.value < WAITING_MS) break;
      this.#waiting.delete(next);
      this.#aside += 1;
    }
    const next = this.#waiting.first;
    if (this.#hasRoom || next === undefined || this.#timer !== undefined) return;
    this.#timer = this.#clock.timer(next.value + WAITING_MS - now, () => {
      this.#timer = undefined;
      this.#setAside();
      if (this.#hasRoom) this.#room?.resolve();
    });
  }

  /** Resolves when no task is running. */
  idle(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    this.#idle ??= Promise.withResolvers<void>();
    return this.#idle.promise;
  }

  async done(): Promise<void> {
    this.#timer?.cancel();
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
