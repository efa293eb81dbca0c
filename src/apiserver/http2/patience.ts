/** How much is borne of what costs a server more than those who send it: at once, and from then on in a second. */
import type { Clock } from "#base";

const AT_ONCE = 1_000;
const PER_SECOND = 100;

export class Patience {
  readonly #clock: Clock;
  #left = AT_ONCE;
  #atMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#atMs = clock.monotonic();
  }

  /** False: no more of it. */
  bears(): boolean {
    const now = this.#clock.monotonic();
    this.#left = Math.min(AT_ONCE, this.#left + ((now - this.#atMs) / 1000) * PER_SECOND);
    this.#atMs = now;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
