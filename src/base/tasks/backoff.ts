/**
 * How long to wait before trying again: initial, initial × factor, initial × factor² … up to a cap.
 *
 * 1. Jitter only shortens a delay: it spreads those who wait at the cap too, and nobody waits longer than the cap.
 * 2. After a quiet time counted from the end of the last delay, it starts over by itself.
 */

import type { Clock } from "../system/clock.ts";
import type { Random } from "../system/random.ts";

export interface BackoffOptions {
  readonly initialMs: number;
  readonly maxMs: number;
  /** Default: 2. */
  readonly factor?: number;
  /** The part of each delay that is left to chance, 0 to 1. Default: 0. */
  readonly jitter?: number;
}

export interface QuietTime {
  readonly ms: number;
  readonly clock: Clock;
}

/** The delay after so many failures before this one; 0 for the first. */
export function backoffDelay(options: BackoffOptions, failures: number, random: Random): number {
  const { initialMs, maxMs, factor = 2, jitter = 0 } = options;
  const fullMs = Math.min(maxMs, initialMs * factor ** failures);
  return jitter === 0 ? fullMs : fullMs * (1 - jitter * random.next());
}

export class Backoff {
  readonly #options: BackoffOptions;
  readonly #random: Random;
  readonly #quiet: QuietTime | undefined;
  #failures = 0;
  #lastEndMs = 0;

  constructor(options: BackoffOptions, random: Random, quiet?: QuietTime) {
    checkBackoff(options);
    this.#options = options;
    this.#random = random;
    this.#quiet = quiet;
  }

  /** Counts one more failure and says how long to wait, in milliseconds. */
  next(): number {
    const nowMs = this.#quiet?.clock.monotonic() ?? 0;
    if (this.#quiet !== undefined && nowMs - this.#lastEndMs >= this.#quiet.ms) this.reset();
    const delayMs = backoffDelay(this.#options, this.#failures++, this.#random);
    this.#lastEndMs = nowMs + delayMs;
    return delayMs;
  }

  reset(): void {
    this.#failures = 0;
  }
}

/** One backoff for each key; a key costs nothing before its first failure and after `forget`. */
export class KeyedBackoff<K> {
  readonly #options: BackoffOptions;
  readonly #random: Random;
  readonly #failures = new Map<K, number>();

  constructor(options: BackoffOptions, random: Random) {
    checkBackoff(options);
    this.#options = options;
    this.#random = random;
  }

  next(key: K): number {
    const failures = this.failures(key);
    this.#failures.set(key, failures + 1);
    return backoffDelay(this.#options, failures, this.#random);
  }

  forget(key: K): void {
    this.#failures.delete(key);
  }

  /** How often the key has failed since it was forgotten. */
  failures(key: K): number {
    return this.#failures.get(key) ?? 0;
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#failures.size;
  }
}

function checkBackoff({ initialMs, maxMs, factor = 2, jitter = 0 }: BackoffOptions): void {
  const sound = initialMs >= 0 && maxMs >= initialMs && factor >= 1 && jitter >= 0 && jitter <= 1;
  if (!sound) throw new RangeError(`impossible backoff: ${JSON.stringify({ initialMs, maxMs, factor, jitter })}`);
}
