/**
 * The time of a test cluster. It stands still until a test moves it; then everything that falls due on the way happens
 * in its order.
 *
 * 1. Before time moves, and before `settle` resolves, nothing is left to do without time passing: no code is ready to
 *    run, and no request is under way.
 */
import { durationMs } from "#api";
import { nextTurn, realClock, settled, type VirtualClock } from "#base";

/** How long requests that wait for something outside, such as a webhook, are awaited in real time. */
const OUTSIDE_MS = 10_000;

export interface TestClockOptions {
  /** The time as of now: a reset replaces it. */
  readonly time: () => VirtualClock;
  /** How many requests are under way, watches not counted. */
  readonly underWay: () => number;
  readonly beforeMoving: () => void;
}

export class TestClock {
  readonly #options: TestClockOptions;

  constructor(options: TestClockOptions) {
    this.#options = options;
  }

  /** Milliseconds since 1970. */
  now(): number {
    return this.#options.time().now();
  }

  /** How long until something falls due; undefined if nothing will. */
  get nextDueMs(): number | undefined {
    return this.#options.time().nextDueMs;
  }

  /** Lets time pass: milliseconds, or a duration such as "90s" or "24h". */
  async advance(duration: number | string): Promise<void> {
    const clock = this.#options.time();
    const endMs = clock.monotonic() + (typeof duration === "number" ? duration : durationMs(duration));
    this.#options.beforeMoving();
    await this.settle();
    for (;;) {
      const leftMs = endMs - clock.monotonic();
      const { nextDueMs = Number.POSITIVE_INFINITY } = clock;
      await clock.advance(Math.min(leftMs, nextDueMs));
      if (this.#options.underWay() > 0) await this.settle();
      if (nextDueMs > leftMs || (leftMs === 0 && (clock.nextDueMs ?? 1) > 0)) return;
    }
  }

  /** Sets the wall clock forth or back, as somebody may do with a machine: nothing falls due by that. */
  jump(duration: number | string): void {
    this.#options.time().jump(typeof duration === "number" ? duration : jumpMs(duration));
  }

  /** Waits until nothing is left to do unless time passes. */
  async settle(): Promise<void> {
    await settled();
    const real = realClock();
    const startMs = real.monotonic();
    while (this.#options.underWay() > 0 && real.monotonic() - startMs < OUTSIDE_MS) {
      // Work of threads and sockets: they report in a later turn.
      await nextTurn();
      await settled();
      if (this.#options.underWay() > 0) await real.sleep(0);
    }
  }
}

function jumpMs(text: string): number {
  return text.startsWith("-") ? -durationMs(text.slice(1)) : durationMs(text);
}
