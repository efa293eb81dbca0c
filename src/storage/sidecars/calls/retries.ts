/**
 * When a key that has failed is tried again: after one second, then twice as long each time, up to five minutes, as the
 * sidecars of Kubernetes do.
 *
 * 1. A key is not tried earlier because its object changes: statuses that report the failure change it, too.
 * 2. `wake` makes all keys due, for example when a driver is back.
 */
import { type BackoffOptions, type Clock, KeyedBackoff, type Random } from "#base";

const DEFAULT: BackoffOptions = { initialMs: 1_000, maxMs: 300_000 };

export class Retries {
  readonly #clock: Clock;
  readonly #backoff: KeyedBackoff<string>;
  readonly #dueMs = new Map<string, number>();

  constructor(clock: Clock, random: Random, options: BackoffOptions = DEFAULT) {
    this.#clock = clock;
    this.#backoff = new KeyedBackoff(options, random);
  }

  /** The time until the key is due; 0 if it is. */
  waitMs(key: string): number {
    return Math.max(0, (this.#dueMs.get(key) ?? 0) - this.#clock.monotonic());
  }

  /** Counts a failure. Returns the time until the next attempt. */
  failed(key: string): number {
    return this.delay(key, this.#backoff.next(key));
  }

  delay(key: string, ms: number): number {
    this.#dueMs.set(key, this.#clock.monotonic() + ms);
    return ms;
  }

  forget(key: string): void {
    this.#backoff.forget(key);
    this.#dueMs.delete(key);
  }

  /** The keys that were waiting. */
  wake(): readonly string[] {
    const keys = [...this.#dueMs.keys()];
    for (const key of keys) this.forget(key);
    return keys;
  }
}
