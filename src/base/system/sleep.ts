/** Sleeping, in terms of a timer: the same rules for every Clock. */

import { whenAborted } from "./abort.ts";
import type { Timer } from "./clock.ts";

export type StartTimer = (ms: number, fire: () => void) => Timer;

/** Rejects with the signal's reason; whichever end comes first undoes the other. */
export function sleepOn(startTimer: StartTimer, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const timer = startTimer(ms, () => {
      detach();
      resolve();
    });
    // Thousands may sleep on one signal.
    const detach =
      signal === undefined
        ? () => {}
        : whenAborted(signal, () => {
            timer.cancel();
            reject(signal.reason);
          });
  });
}

/** Delays in the past are due now; NaN is a mistake in the caller's arithmetic and must not become "now". */
export function checkedDelay(ms: number): number {
  if (Number.isNaN(ms)) throw new RangeError("a delay must be a number of milliseconds, got NaN");
  return Math.max(0, ms);
}
