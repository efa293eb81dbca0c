/**
 * Backoff of failed Pods by node: 1 s, 2 s, 4 s … up to 15 minutes, reset after half an hour without a failure. Losing
 * it at a restart is harmless.
 */
import type { Clock } from "#base";

const INITIAL_MS = 1_000;
const MAX_MS = 15 * 60_000;
const FORGOTTEN_MS = 2 * MAX_MS;

export class FailureBackoff {
  readonly #clock: Clock;
  /** Least recent failure first. */
  readonly #failures = new Map<string, { delayMs: number; sinceMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  waitMs(key: string): number {
    const failure = this.#failures.get(key);
    return failure === undefined ? 0 : Math.max(0, failure.sinceMs + failure.delayMs - this.#clock.monotonic());
  }

  failed(key: string): void {
    const now = this.#clock.monotonic();
    for (const [other, { sinceMs }] of this.#failures) {
      if (now - sinceMs < FORGOTTEN_MS) break;
      this.#failures.delete(other);
    }
    const before = this.#failures.get(key)?.delayMs;
    this.#failures.delete(key);
    const delayMs = before === undefined ? INITIAL_MS : Math.min(MAX_MS, 2 * before);
    this.#failures.set(key, { delayMs, sinceMs: now });
  }
}
