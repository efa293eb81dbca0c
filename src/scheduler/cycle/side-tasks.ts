/**
 * Work that goes on beside the attempts: bindings, statuses. Bounded, and awaited at the end.
 *
 * 1. What waits for others, such as a volume or a permit, takes up room for a moment only: who waits for minutes must not stop everybody else.
 */
import { Chain, type Clock, isAbort, Link, type Logger, type Timer } from "#base";

/** An API server that is fair to others turns away who has more than some hundred requests waiting. */
const MAX_RUNNING = 200;
/** Beyond that, who waits is taken not to send anything. */
const WAITING_MS = 1000;

export class SideTasks {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #running = new Chain<Link<Promise<void>>>();
  /** Since when somebody waits, the longest first: of those that take up room. */
  readonly #waiting = new Chain<Link<number>>();
  /** How many wait without taking up room. */
  #aside = 0;
  #timer: Timer | undefined;
  #room: PromiseWithResolvers<void> | undefined;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(log: Logger, clock: Clock, signal: AbortSignal) {
    this.#log = log;
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Of those that take up room. */
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

  /** Part of a task, which waits for others meanwhile. */
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

  /** Undefined: there is room now. */
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

  /** Who has waited long gives up its room; when the next one will have, this is done again as long as somebody needs room. */
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

  /** When nothing is under way, for a moment at least. */
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
