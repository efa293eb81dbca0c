/**
 * When calls are too late: one timer for all that may take equally long, as there may be hundreds under way, and hardly one ever is.
 */
import { Chain, type Clock, Link, type Timer } from "#base";

interface Deadline {
  readonly atMs: number;
  expire(): void;
}

interface Equals {
  /** In the order in which they are due. */
  readonly waiting: Chain<Link<Deadline>>;
  timer: Timer | undefined;
}

export class Deadlines {
  readonly #clock: Clock;
  readonly #byLimit = new Map<number, Equals>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls once, unless what comes back is called before. */
  start(limitMs: number, expire: () => void): () => void {
    const equals = this.#byLimit.get(limitMs) ?? { waiting: new Chain<Link<Deadline>>(), timer: undefined };
    this.#byLimit.set(limitMs, equals);
    const link = new Link({ atMs: this.#clock.monotonic() + limitMs, expire });
    equals.waiting.add(link);
    equals.timer ??= this.#clock.timer(limitMs, () => this.#due(equals, limitMs));
    return () => {
      equals.waiting.delete(link);
      if (equals.waiting.size === 0) this.#end(equals, limitMs);
    };
  }

  #due(equals: Equals, limitMs: number): void {
    const now = this.#clock.monotonic();
    for (let link = equals.waiting.first; link !== undefined; link = equals.waiting.first) {
      const { atMs, expire } = link.value;
      if (atMs > now) {
        equals.timer = this.#clock.timer(atMs - now, () => this.#due(equals, limitMs));
        return;
      }
      equals.waiting.delete(link);
      expire();
    }
    this.#end(equals, limitMs);
  }

  #end(equals: Equals, limitMs: number): void {
    equals.timer?.cancel();
    equals.timer = undefined;
    if (this.#byLimit.get(limitMs) === equals) this.#byLimit.delete(limitMs);
  }
}
