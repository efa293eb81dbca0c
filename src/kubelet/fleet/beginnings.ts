/** How many Pods have begun of late on the nodes of a fleet: where many do, what each of them says before it runs is not worth a write. */
import type { Clock } from "#base";

const WINDOW_MS = 1_000;
const MANY = 50;

export class Beginnings {
  readonly #clock: Clock;
  #sinceMs = Number.NEGATIVE_INFINITY;
  #count = 0;
  #before = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(): void {
    this.#turn();
    this.#count += 1;
  }

  /** More than 50 in a second, this one or the one before. */
  get areMany(): boolean {
    this.#turn();
    return Math.max(this.#count, this.#before) > MANY;
  }

  #turn(): void {
    const now = this.#clock.monotonic();
    const agoMs = now - this.#sinceMs;
    if (agoMs < WINDOW_MS) return;
    this.#before = agoMs < 2 * WINDOW_MS ? this.#count : 0;
    this.#count = 0;
    this.#sinceMs = now;
  }
}
