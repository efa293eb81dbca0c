/** How often a client may do what costs the server more than the client: in a burst, and in a second. */
import type { Clock } from "#base";

const BURST = 1_000;
const PER_SECOND = 100;

export class AbuseBudget {
  readonly #clock: Clock;
  #left = BURST;
  #atMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#atMs = clock.monotonic();
  }

  /** False: the budget is used up. */
  take(): boolean {
    const now = this.#clock.monotonic();
    this.#left = Math.min(BURST, this.#left + ((now - this.#atMs) / 1000) * PER_SECOND);
    this.#atMs = now;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
