/** Wall time for readings of the monotonic clock, for hot paths that must not read two clocks. */
import type { Clock } from "./clock.ts";

/** How long it may be wrong after the wall clock was set. */
const CLOCK_SET_MS = 1_000;

export function timeOfDay(clock: Clock): (monotonicMs: number) => number {
  let [offset, setAt] = [0, Number.NEGATIVE_INFINITY];
  return (monotonicMs) => {
    if (monotonicMs - setAt > CLOCK_SET_MS) [offset, setAt] = [clock.now() - monotonicMs, monotonicMs];
    return monotonicMs + offset;
  };
}
