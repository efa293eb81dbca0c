/** How many seats a level could use, over time: what borrowing goes by. */

export interface DemandStats {
  readonly average: number;
  readonly deviation: number;
  readonly highest: number;
  /** Falls slowly: half of what was above the present is forgotten in five minutes. */
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

  /** It is so much from now on. */
  reach(value: number): void {
    if (value > this.#highest) this.#highest = value;
  }

  /** It was so much, for so long. */
  spend(value: number, ms: number): void {
    this.#elapsed += ms;
    this.#sum += value * ms;
    this.#squares += value * value * ms;
  }

  /** What has been since the last time, smoothed with what was known before; a new period begins, with what is now. */
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
