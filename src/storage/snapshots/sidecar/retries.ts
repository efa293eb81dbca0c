/**
 * When a driver is asked again: after 1 s, 2 s, 4 s … up to 5 minutes, as upstream's sidecars do.
 *
 * Changes of the object do not shorten the wait: the sidecar's own writes are changes, too. Another action does.
 */
import { backoffDelay, type Random } from "#base";

export interface RetryOptions {
  /** --retry-interval-start. Default: 1 s. */
  readonly startMs?: number | undefined;
  /** --retry-interval-max. Default: 5 minutes. */
  readonly maxMs?: number | undefined;
}

interface Waiting {
  readonly action: string;
  readonly failures: number;
  dueMs: number;
}

export class Retries {
  readonly #limits: { readonly initialMs: number; readonly maxMs: number };
  readonly #random: Random;
  readonly #waiting = new Map<string, Waiting>();

  constructor({ startMs = 1_000, maxMs = 300_000 }: RetryOptions, random: Random) {
    this.#limits = { initialMs: startMs, maxMs };
    this.#random = random;
  }

  /** How long to wait before this action; 0: not at all. */
  leftMs(key: string, action: string, now: number): number {
    const waiting = this.#waiting.get(key);
    return waiting?.action === action ? Math.max(0, waiting.dueMs - now) : 0;
  }

  /** The action has to be repeated; returns when. */
  againMs(key: string, action: string, now: number): number {
    const before = this.#waiting.get(key);
    const failures = before?.action === action ? before.failures : 0;
    const delayMs = backoffDelay(this.#limits, failures, this.#random);
    this.#waiting.set(key, { action, failures: failures + 1, dueMs: now + delayMs });
    return delayMs;
  }

  forget(key: string): void {
    this.#waiting.delete(key);
  }

  /** What waits need not wait any longer: a driver has come back. */
  hurry(): readonly string[] {
    for (const waiting of this.#waiting.values()) waiting.dueMs = 0;
    return [...this.#waiting.keys()];
  }
}
