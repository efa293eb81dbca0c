/**
 * Promises that fail at a deadline.
 *
 * 1. Those with the same timeout have their deadlines in the order in which they came: one timer for all of them, set
 *    for the first. Most requests have the same one, and are answered long before it.
 */
import { Chain, type Clock, Link, type Timer } from "#base";

interface Waiting {
  readonly atMs: number;
  expire(): void;
}

interface Line {
  readonly waiting: Chain<Link<Waiting>>;
  timer: Timer;
}

export class Deadlines {
  readonly #clock: Clock;
  /** By timeout. */
  readonly #lines = new Map<number, Line>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What `work` resolves to. After `timeoutMs` it fails with the error of `late`; the end of the work is dropped. */
  limit<T>(work: Promise<T>, timeoutMs: number, late: () => Error): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const link = new Link<Waiting>({
        atMs: this.#clock.monotonic() + timeoutMs,
        expire: () => reject(late()),
      });
      const { waiting } = this.#line(timeoutMs);
      waiting.add(link);
      work.then(
        (value) => {
          waiting.delete(link);
          resolve(value);
        },
        (error: unknown) => {
          waiting.delete(link);
          reject(error);
        },
      );
    });
  }

  /** What is limited stays as it is, without a deadline. */
  close(): void {
    for (const { timer } of this.#lines.values()) timer.cancel();
    this.#lines.clear();
  }

  #line(timeoutMs: number): Line {
    let line = this.#lines.get(timeoutMs);
    if (line === undefined) {
      line = { waiting: new Chain(), timer: this.#clock.timer(timeoutMs, () => this.#expire(timeoutMs)) };
      this.#lines.set(timeoutMs, line);
    }
    return line;
  }

  #expire(timeoutMs: number): void {
    const line = this.#lines.get(timeoutMs);
    if (line === undefined) return;
    const now = this.#clock.monotonic();
    let { first } = line.waiting;
    while (first !== undefined && first.value.atMs <= now) {
      line.waiting.delete(first);
      first.value.expire();
      ({ first } = line.waiting);
    }
    if (first === undefined) this.#lines.delete(timeoutMs);
    else line.timer = this.#clock.timer(first.value.atMs - now, () => this.#expire(timeoutMs));
  }
}
