/**
 * A map whose entries expire, of at most `limit` entries: when it is full, the least recently used one is evicted.
 *
 * 1. An entry is returned until its time to live is over, and never after. Using it does not prolong its life.
 * 2. Nothing runs in the background: an expired entry goes when it is asked for, or when it is evicted.
 */
import { LruMap } from "./lru-map.ts";

/** What it needs of a Clock. */
interface MonotonicClock {
  monotonic(): number;
}

interface Expiring<V> {
  readonly value: V;
  readonly untilMs: number;
}

export class TtlMap<K, V extends NonNullable<unknown>> {
  readonly #entries: LruMap<K, Expiring<V>>;
  readonly #clock: MonotonicClock;

  constructor(limit: number, clock: MonotonicClock) {
    this.#entries = new LruMap(limit);
    this.#clock = clock;
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (this.#clock.monotonic() < entry.untilMs) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  /** With a time to live of 0 or less, only what was there is forgotten. */
  set(key: K, value: V, ttlMs: number): void {
    if (ttlMs > 0) this.#entries.set(key, { value, untilMs: this.#clock.monotonic() + ttlMs });
    else this.#entries.delete(key);
  }

  delete(key: K): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}
