/**
 * A ratio that is observed, in Kubernetes' metrics, at every nanosecond: the histogram shows for how long it had which
 * value.
 */
import type { Histogram } from "#base";
import { PeakOfSecond } from "./peak-of-second.ts";

const NS_PER_MS = 1_000_000;

/** A ratio whose owner measures the time. */
export class RatioTimes {
  readonly #histogram: Histogram;
  /**
   * For how long the numerator had each value since the last report: observing the histogram at every change would cost
   * more.
   */
  #spentMs: number[] = [];
  /** The denominator. `report` comes before a change of it. */
  whole = 1;

  constructor(histogram: Histogram) {
    this.#histogram = histogram;
  }

  /** `part`: the numerator, an integer. */
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

/** A ratio that measures the time itself. */
export class TimedRatio {
  readonly #times: RatioTimes;
  #part = 0;
  #since: number;
  /** Of the numerator. */
  readonly peak = new PeakOfSecond();

  constructor(histogram: Histogram, nowMs: number) {
    this.#times = new RatioTimes(histogram);
    this.#since = nowMs;
  }

  /** `by`: an integer. */
  add(by: number, nowMs: number): void {
    this.#spend(nowMs);
    this.#part += by;
    this.peak.add(by, nowMs);
  }

  /** Brings the histogram up to date. */
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
