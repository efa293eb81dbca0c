/**
 * Time that flows as on a clock on the wall, and that can be moved besides: for clients outside of the process, which
 * wait for things to happen.
 *
 *     real time ···► advance by what has passed ──► what falls due happens
 *     a request ──► alone: advance, jump, fork
 *
 * 1. Time is moved by one at a time, in the order of their asking.
 * 2. Where it does not flow, it stands still until somebody moves it.
 */
import type { Clock } from "#base";
import type { TestClock } from "../cluster/test-clock.ts";

/** How far the cluster's time is behind the real one, at most, while there is nothing to do. */
const TICK_MS = 10;

export class FlowingTime {
  readonly #flows: () => boolean;
  readonly #clock: TestClock;
  readonly #real: Clock;
  #last: Promise<unknown> = Promise.resolve();

  constructor(clock: TestClock, real: Clock, flows: () => boolean) {
    this.#clock = clock;
    this.#real = real;
    this.#flows = flows;
  }

  /** Does something that moves time, or must not be done while it moves. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }

  /** Until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    let lastMs = this.#real.monotonic();
    while (!signal.aborted) {
      await this.#real.sleep(TICK_MS, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      const passedMs = Math.floor(this.#real.monotonic() - lastMs);
      lastMs += passedMs;
      if (!signal.aborted && this.#flows()) await this.alone(() => this.#clock.advance(passedMs));
    }
  }
}
