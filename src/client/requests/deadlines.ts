/**
 * Deadlines of calls: one timer for all calls with the same limit, because hundreds may be under way and hardly one
 * ever expires.
 */
import { Chain, type Clock, Link, type Timer } from "#base";

interface Deadline {
  readonly atMs: number;
  expire(): void;
}

interface SameLimit {
  /** In the order of their deadlines. */
  readonly waiting: Chain<Link<Deadline>>;
  timer: Timer | undefined;
}

export class Deadlines {
  readonly #clock: Clock;
  readonly #byLimit = new Map<number, SameLimit>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `expire` after `limitMs`, unless the returned function is called before. */
  start(limitMs: number, expire: () => void): () => void {
    const group = this.#byLimit.get(limitMs) ?? { waiting: new Chain<Link<Deadline>>(), timer: undefined };
    this.#byLimit.set(limitMs, group);
    const link = new Link({ atMs: this.#clock.monotonic() + limitMs, expire });
    group.waiting.add(link);
    group.timer ??= this.#clock.timer(limitMs, () => this.#due(group, limitMs));
    return () => {
      group.waiting.delete(link);
      if (group.waiting.size === 0) this.#end(group, limitMs);
    };
  }

  #due(group: SameLimit, limitMs: number): void {
    const now = this.#clock.monotonic();
    for (let link = group.waiting.first; link !== undefined; link = group.waiting.first) {
      const { atMs, expire } = link.value;
      if (atMs > now) {
        group.timer = this.#clock.timer(atMs - now, () => this.#due(group, limitMs));
        return;
      }
      group.waiting.delete(link);
      expire();
    }
    this.#end(group, limitMs);
  }

  #end(group: SameLimit, limitMs: number): void {
    group.timer?.cancel();
    group.timer = undefined;
    if (this.#byLimit.get(limitMs) === group) this.#byLimit.delete(limitMs);
  }
}
