/** How many seats a level could use, over time: borrowing of seats depends on it. */

export interface DemandStats {
  readonly average: number;
  readonly deviation: number;
  readonly highest: number;
  /** Decays: half of the excess over the present demand is gone after five minutes. */
  readonly smoothed: number;
}

export const NO_DEMAND: DemandStats = { average: 0, deviation: 0, highest: 0, smoothed: 0 };

const SMOOTHING = 0.977;

/** Integrates a value over time, to its average and standard deviation. */
export class Demand {
  #elapsed = 0;
  #sum = 0;
  #squares = 0;
  #highest = 0;

  /** The value from now on. */
  reach(value: number): void {
    if (value > this.#highest) this.#highest = value;
  }

  /** The value was this for so long. */
  spend(value: number, ms: number): void {
    this.#elapsed += ms;
    this.#sum += value * ms;
    this.#squares += value * value * ms;
  }

  /**
   * The statistics of the period that ends, smoothed with those before it. A new period starts with the present value.
   */
  next(before: DemandStats, value: number): DemandStats {
    const elapsed = this.#elapsed;
    const highest = Math.round(this.#highest);
    const average = this.#sum / elapsed;
    const variance = this.#squares / elapsed - average * average;
    this.#elapsed = this.#sum = this.#squares = 0;
    this.#highest = value;
    if (elapsed <= 0) return { ...before, highest };
    const deviation = variance > 0 ? Math.sqrt(variance) : 0;
    const envelope = average + deviation;
    const smoothed = Math.max(envelope, SMOOTHING * before.smoothed + (1 - SMOOTHING) * envelope);
    return { average, deviation, highest, smoothed };
  }
}
