/** The time of day at readings of the monotonic clock, for those who cannot afford to read two clocks. */
import type { Clock } from "./clock.ts";

/** How long it may be off after the time of day was set. */
const CLOCK_SET_MS = 1_000;

export function timeOfDay(clock: Clock): (monotonicMs: number) => number {
  let [offset, setAt] = [0, Number.NEGATIVE_INFINITY];
  return (monotonicMs) => {
    if (monotonicMs - setAt > CLOCK_SET_MS) [offset, setAt] = [clock.now() - monotonicMs, monotonicMs];
    return monotonicMs + offset;
  };
}
