/**
 * The machine's clock.
 *
 * 1. A timer never fires early: Node's own may, by a fraction of a millisecond.
 * 2. Any delay works: Node's own timers turn delays over 24.8 days into one millisecond.
 * 3. Pending timers keep the process alive; whoever started one cancels it.
 */

import type { Clock, Timer } from "./clock.ts";
import { checkedDelay, sleepOn } from "./sleep.ts";

const longestNodeDelayMs = 2 ** 31 - 1;

export function realClock(): Clock {
  // Asked for once: the global is a getter.
  const { performance } = globalThis;
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    timer: startTimer,
    sleep: (ms, signal) => sleepOn(startTimer, ms, signal),
  };
}

function startTimer(ms: number, fire: () => void): Timer {
  const dueMs = performance.now() + checkedDelay(ms);
  const arm = (leftMs: number) => setTimeout(wake, Math.min(Math.max(leftMs, 0), longestNodeDelayMs));
  const wake = () => {
    const leftMs = dueMs - performance.now();
    if (leftMs > 0) handle = arm(leftMs);
    else fire();
  };
  let handle = arm(ms);
  return { cancel: () => clearTimeout(handle) };
}
