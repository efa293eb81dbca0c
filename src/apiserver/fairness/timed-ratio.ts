/** A part of a whole, observed at the end of every nanosecond: a histogram says for how long it was how much. */
import type { Histogram } from "#base";

const NS_PER_MS = 1_000_000;

/** Whose owner knows for how long. */
export class RatioTimes {
  readonly #histogram: Histogram;
  /** For how long the part was so many, since the histogram was last told: to tell it at every change costs more than the changes do. */
  #spentMs: number[] = [];
  /** What parts are compared with. Before it changes, what has been is told. */
  whole = 1;

  constructor(histogram: Histogram) {
    this.#histogram = histogram;
  }

  /** `part`: a whole number. */
  spend(part: number, ms: number): void {
    const spent = this.#spentMs;
    while (spent.length <= part) spent.push(0);
    spent[part] = (spent[part] ?? 0) + ms;
  }

  report(): void {
    for (const [part, ms] of this.#spentMs.entries()) {
      const times = Math.round(ms * NS_PER_MS);
      if (times > 0) this.#histogram.observe(part / this.whole, times);
    }
    this.#spentMs = [];
  }
}

/** Which changes, now and then. */
export class TimedRatio {
  readonly #times: RatioTimes;
  #part = 0;
  #since: number;

  constructor(histogram: Histogram, nowMs: number) {
    this.#times = new RatioTimes(histogram);
    this.#since = nowMs;
  }

  /** Whole numbers. */
  add(by: number, nowMs: number): void {
    this.#spend(nowMs);
    this.#part += by;
  }

  /** Counts what has been until now. */
  advance(nowMs: number): void {
    this.#spend(nowMs);
    this.#times.report();
  }

  #spend(nowMs: number): void {
    const passed = nowMs - this.#since;
    if (passed <= 0) return;
    this.#since = nowMs;
    this.#times.spend(this.#part, passed);
  }
}
