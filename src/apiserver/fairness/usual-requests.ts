/**
 * What most requests of a flow are: they have one seat, start at once, and are executed within milliseconds. They are counted here, and told to the samples
 * when somebody asks for these: each of four samples lies elsewhere in memory, and to go there costs more than to count.
 */
import type { Counter, Histogram } from "#base";

/** Of executions: none of these is in another bucket. */
const SHORT_SECONDS = 0.005;

export interface UsualSamples {
  readonly dispatched: Counter;
  readonly waited: Histogram;
  readonly executed: Histogram;
  readonly seats: Histogram;
}

export class UsualRequests {
  readonly #samples: UsualSamples;
  /** How many were started, how many executed, and for how long these were. */
  readonly #counts = new Float64Array(3);

  constructor(samples: UsualSamples) {
    this.#samples = samples;
  }

  started(): void {
    this.#counts[0] = (this.#counts[0] ?? 0) + 1;
  }

  /** Also one that took longer than most. */
  executed(seconds: number): void {
    if (seconds <= 0 || seconds > SHORT_SECONDS) {
      this.#samples.executed.observe(seconds);
      return;
    }
    const counts = this.#counts;
    counts[1] = (counts[1] ?? 0) + 1;
    counts[2] = (counts[2] ?? 0) + seconds;
  }

  tell(): void {
    const { dispatched, waited, executed, seats } = this.#samples;
    const [started = 0, ended = 0, seconds = 0] = this.#counts;
    this.#counts.fill(0);
    if (started > 0) {
      dispatched.inc(started);
      waited.observe(0, started);
      seats.observe(1, started);
    }
    if (ended > 0) executed.observe(seconds / ended, ended);
  }
}
