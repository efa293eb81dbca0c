/** A part of a whole, observed at the end of every nanosecond: a histogram says for how long it was how much. */
import type { Histogram } from "#base";

const NS_PER_MS = 1_000_000;

export class TimedRatio {
  readonly #histogram: Histogram;
  #part = 0;
  #whole = 1;
  #since: number;
  /** For how long the part was so many, since the histogram was last told: to tell it at every change costs more than the changes do. */
  #spentMs: number[] = [];

  constructor(histogram: Histogram, nowMs: number) {
    this.#histogram = histogram;
    this.#since = nowMs;
  }

  /** Whole numbers. */
  add(by: number, nowMs: number): void {
    this.#spend(nowMs);
    this.#part += by;
  }

  setWhole(whole: number, nowMs: number): void {
    this.advance(nowMs);
    this.#whole = whole;
  }

  /** Counts what has been until now. */
  advance(nowMs: number): void {
    this.#spend(nowMs);
    for (const [part, ms] of this.#spentMs.entries()) {
      const times = Math.round(ms * NS_PER_MS);
      if (times > 0) this.#histogram.observe(part / this.#whole, times);
    }
    this.#spentMs = [];
  }

  #spend(nowMs: number): void {
    const passed = nowMs - this.#since;
    if (passed <= 0) return;
    this.#since = nowMs;
    const spent = this.#spentMs;
    while (spent.length <= this.#part) spent.push(0);
    spent[this.#part] = (spent[this.#part] ?? 0) + passed;
  }
}
