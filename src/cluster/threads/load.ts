/** When the event loop of this thread is so busy that another thread helps. */
import type { Clock } from "#base";

const PERIOD_MS = 1_000;
const HIGH = 0.8;
/** A burst, such as the start of a cluster, is over before another thread has started. */
const HIGH_PERIODS = 3;

export type Utilization = () => number;

export class Load {
  readonly #clock: Clock;
  readonly #utilization: Utilization;

  /** `utilization`: of the time since the last call. Default: that of this thread's event loop. */
  constructor(clock: Clock, utilization: Utilization = ownUtilization()) {
    this.#clock = clock;
    this.#utilization = utilization;
  }

  /** Resolves when the thread has been busy for some periods in a row. Rejects when the signal aborts. */
  async isHigh(signal: AbortSignal): Promise<void> {
    this.#utilization();
    for (let periods = 0; periods < HIGH_PERIODS; ) {
      await this.#clock.sleep(PERIOD_MS, signal);
      periods = this.#utilization() >= HIGH ? periods + 1 : 0;
    }
  }
}

function ownUtilization(): Utilization {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}
