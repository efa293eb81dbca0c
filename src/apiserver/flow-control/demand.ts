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
  #value = 0;
  #since: number;
  #elapsed = 0;
  #sum = 0;
  #squares = 0;
  #highest = 0;

  constructor(nowMs: number) {
    this.#since = nowMs;
  }

  set(value: number, nowMs: number): void {
    this.#advance(nowMs);
    this.#value = value;
    if (value > this.#highest) this.#highest = value;
  }

  /** What has been since the last time, smoothed with what was known before; a new period begins. */
  next(before: DemandStats, nowMs: number): DemandStats {
    this.#advance(nowMs);
    const elapsed = this.#elapsed;
    const highest = Math.round(this.#highest);
    const average = this.#sum / elapsed;
    const variance = this.#squares / elapsed - average * average;
    this.#elapsed = this.#sum = this.#squares = 0;
    this.#highest = this.#value;
    if (elapsed <= 0) return { ...before, highest };
    const deviation = variance > 0 ? Math.sqrt(variance) : 0;
    const envelope = average + deviation;
    const smoothed = Math.max(envelope, SMOOTHING * before.smoothed + (1 - SMOOTHING) * envelope);
    return { average, deviation, highest, smoothed };
  }

  #advance(nowMs: number): void {
    const passed = nowMs - this.#since;
    if (passed <= 0) return;
    this.#since = nowMs;
    this.#elapsed += passed;
    this.#sum += this.#value * passed;
    this.#squares += this.#value * this.#value * passed;
  }
}
