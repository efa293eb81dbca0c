/**
 * Time is always passed in: code that waits or reads the time takes a Clock.
 *
 * 1. `now` is wall time and may jump; durations are measured with `monotonic`.
 * 2. A wait ends with its signal: `sleep` rejects with the signal's reason, and nothing stays scheduled.
 */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since some fixed point; never goes back. */
  monotonic(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `fire` once after `ms`, unless cancelled before. */
  timer(ms: number, fire: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}
