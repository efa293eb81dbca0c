/** How often something may happen: in a burst, and steadily in a second. */
import type { Clock } from "../system/clock.ts";

export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export class TokenBucket {
  readonly #rate: Rate;
  readonly #clock: Pick<Clock, "monotonic">;
  #left: number;
  #filledMs: number;

  constructor(rate: Rate, clock: Pick<Clock, "monotonic">) {
    this.#rate = rate;
    this.#clock = clock;
    this.#left = rate.burst;
    this.#filledMs = clock.monotonic();
  }

  /** False: too often. */
  take(): boolean {
    const { perSecond, burst } = this.#rate;
    const now = this.#clock.monotonic();
    this.#left = Math.min(burst, this.#left + ((now - this.#filledMs) / 1000) * perSecond);
    this.#filledMs = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
