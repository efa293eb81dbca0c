/** A part of a whole, observed at the end of every nanosecond: a histogram says for how long it was how much. */
import type { Histogram } from "#base";

const NS_PER_MS = 1_000_000;

export class TimedRatio {
  readonly #histogram: Histogram;
  #part = 0;
  #whole = 1;
  #since: number;

  constructor(histogram: Histogram, nowMs: number) {
    this.#histogram = histogram;
    this.#since = nowMs;
  }

  add(by: number, nowMs: number): void {
    this.advance(nowMs);
    this.#part += by;
  }

  setWhole(whole: number, nowMs: number): void {
    this.advance(nowMs);
    this.#whole = whole;
  }

  /** Counts what has been until now. */
  advance(nowMs: number): void {
    const passed = Math.round((nowMs - this.#since) * NS_PER_MS);
    if (passed <= 0) return;
    this.#since = nowMs;
    this.#histogram.observe(this.#part / this.#whole, passed);
  }
}
