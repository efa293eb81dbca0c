/**
 * Keys waiting to be worked on.
 *
 * 1. A key is never handed out twice at once. Added while it runs, it runs once more afterwards.
 * 2. A key waits in the queue at most once, however often it is added: a run that starts after an add covers it.
 * 3. Keys come out by rank: the time of arrival, less `headStartMs` for each point of priority. So a higher priority
 *    goes first and equal ones in order of arrival; and a key that has waited `headStartMs` × the difference in
 *    priority longer than another goes before it: nothing starves.
 * 4. A key that runs again arrives anew when its run is done: it goes to the end.
 * 5. Of several delayed adds of a key the earliest counts. An add without delay leaves a delayed one in place.
 * 6. One timer serves all delayed keys. Every operation is O(log n) or better; a key at rest costs nothing.
 */

import { Heap, type HeapEntry } from "../collections/heap.ts";
import { whenAborted } from "../system/abort.ts";
import type { Clock, Timer } from "../system/clock.ts";
import type { Random } from "../system/random.ts";
import { type BackoffOptions, KeyedBackoff } from "../tasks/backoff.ts";

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Between failures of a key. Default: 5 ms, doubling up to 1000 s. */
  readonly backoff?: BackoffOptions;
  /** The waiting time that one point of priority is worth. Default: 1000. */
  readonly headStartMs?: number;
  readonly observer?: WorkQueueObserver;
}

/** Where metrics hook in. Called synchronously: keep it short. */
export interface WorkQueueObserver {
  /** An add that did not collapse into an earlier one. */
  added(): void;
  /** How many keys wait now. */
  depth(length: number): void;
  /** A key was handed out after this time in the queue. */
  waited(ms: number): void;
  /** A key was done after this time. */
  worked(ms: number): void;
  /** A key was added after a failure. */
  retried(): void;
}

/** How long the runs under way have taken. */
export interface Unfinished {
  readonly totalMs: number;
  readonly longestMs: number;
}

export interface AddOptions {
  /** Higher goes first. Default: 0. Among adds that collapse into one, the highest counts. */
  readonly priority?: number;
}

/** All that is known of a key that is waiting, delayed or running. */
interface Item<K> {
  readonly key: K;
  waiting: HeapEntry<Ranked<K>> | undefined;
  delayed: HeapEntry<Delayed<K>> | undefined;
  run: { readonly sinceMs: number; readonly priority: number } | undefined;
  /** The priority of adds made while it runs; undefined if there were none. */
  dirty: number | undefined;
}

interface Ranked<K> {
  readonly item: Item<K>;
  readonly priority: number;
  readonly sinceMs: number;
  readonly order: number;
  readonly rank: number;
}

interface Delayed<K> {
  readonly item: Item<K>;
  readonly priority: number;
  readonly dueMs: number;
  readonly order: number;
}

export class WorkQueue<K = string> {
  readonly #clock: Clock;
  readonly #headStartMs: number;
  readonly #observer: WorkQueueObserver | undefined;
  readonly #backoff: KeyedBackoff<K>;
  readonly #items = new Map<K, Item<K>>();
  readonly #ready = new Heap<Ranked<K>>((a, b) => a.rank < b.rank || (a.rank === b.rank && a.order < b.order));
  readonly #later = new Heap<Delayed<K>>((a, b) => a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order));
  readonly #takers = new Set<(key: K | undefined) => void>();
  #alarm: { readonly dueMs: number; readonly timer: Timer } | undefined;
  #arrivals = 0;
  #closed = false;

  constructor({ clock, random, backoff, headStartMs = 1000, observer }: WorkQueueOptions) {
    this.#clock = clock;
    this.#headStartMs = headStartMs;
    this.#observer = observer;
    this.#backoff = new KeyedBackoff(backoff ?? { initialMs: 5, maxMs: 1_000_000 }, random);
  }

  /** How many keys wait to be handed out; delayed and running ones are not counted. */
  get length(): number {
    return this.#ready.size;
  }

  get closed(): boolean {
    return this.#closed;
  }

  unfinished(): Unfinished {
    const nowMs = this.#clock.monotonic();
    let [totalMs, longestMs] = [0, 0];
    for (const { run } of this.#items.values()) {
      if (run === undefined) continue;
      totalMs += nowMs - run.sinceMs;
      longestMs = Math.max(longestMs, nowMs - run.sinceMs);
    }
    return { totalMs, longestMs };
  }

  add(key: K, { priority = 0 }: AddOptions = {}): void {
    if (!this.#closed) this.#add(this.#item(key), priority);
  }

  addAfter(key: K, ms: number, { priority = 0 }: AddOptions = {}): void {
    if (this.#closed) return;
    if (Number.isNaN(ms)) throw new RangeError("a delay must be a number of milliseconds, got NaN");
    const item = this.#item(key);
    if (ms <= 0) {
      this.#add(item, priority);
      return;
    }
    const before = item.delayed;
    const dueMs = Math.min(this.#clock.monotonic() + ms, before?.value.dueMs ?? Infinity);
    const highest = Math.max(priority, before?.value.priority ?? priority);
    if (before?.value.dueMs === dueMs && before.value.priority === highest) return;
    if (before !== undefined) this.#later.remove(before);
    item.delayed = this.#later.push({ item, priority: highest, dueMs, order: this.#arrivals++ });
    this.#setAlarm();
  }

  /** Adds a key that has failed, after its backoff; unless told otherwise, at the priority at which it runs. */
  addRateLimited(key: K, { priority = this.#items.get(key)?.run?.priority ?? 0 }: AddOptions = {}): void {
    if (this.#closed) return;
    this.#observer?.retried();
    this.addAfter(key, this.#backoff.next(key), { priority });
  }

  /** The key's next failure counts as its first. What is queued stays queued. */
  forget(key: K): void {
    this.#backoff.forget(key);
  }

  /** How often the key has been added after a failure since it was forgotten. */
  retries(key: K): number {
    return this.#backoff.failures(key);
  }

  /** The next key, to be given back by `done`; undefined once the queue is closed. Rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<K | undefined> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const next = this.#ready.pop();
      if (next !== undefined || this.#closed) {
        resolve(next === undefined ? undefined : this.#handOut(next));
        return;
      }
      const receive = (key: K | undefined) => {
        this.#takers.delete(receive);
        detach();
        resolve(key);
      };
      this.#takers.add(receive);
      const detach = whenAborted(signal, () => {
        this.#takers.delete(receive);
        reject(signal.reason);
      });
    });
  }

  done(key: K): void {
    const item = this.#items.get(key);
    if (item?.run === undefined) throw new Error(`done without take: ${String(key)}`);
    this.#observer?.worked(this.#clock.monotonic() - item.run.sinceMs);
    const again = item.dirty;
    item.run = undefined;
    item.dirty = undefined;
    if (again !== undefined) this.#enqueue(item, again);
    else if (item.delayed === undefined) this.#items.delete(key);
  }

  /** Keys as they come; each counts as done when the loop's body is through with it. Ends when the queue is closed. */
  async *keys(signal: AbortSignal): AsyncGenerator<K, void, undefined> {
    for (;;) {
      const key = await this.take(signal);
      if (key === undefined) return;
      try {
        yield key;
      } finally {
        this.done(key);
      }
    }
  }

  /** Drops everything that waits and ignores all further adds; keys that run are still to be given back. */
  close(): void {
    this.#closed = true;
    this.#alarm?.timer.cancel();
    this.#alarm = undefined;
    this.#ready.clear();
    this.#later.clear();
    for (const item of this.#items.values()) {
      item.waiting = undefined;
      item.delayed = undefined;
      item.dirty = undefined;
      if (item.run === undefined) this.#items.delete(item.key);
    }
    for (const receive of this.#takers) receive(undefined);
    this.#observer?.depth(0);
  }

  #item(key: K): Item<K> {
    let item = this.#items.get(key);
    if (item === undefined) {
      item = { key, waiting: undefined, delayed: undefined, run: undefined, dirty: undefined };
      this.#items.set(key, item);
    }
    return item;
  }

  #add(item: Item<K>, priority: number): void {
    if (item.run !== undefined) {
      if (item.dirty === undefined) this.#observer?.added();
      item.dirty = Math.max(priority, item.dirty ?? priority);
    } else if (item.waiting === undefined) {
      this.#observer?.added();
      this.#enqueue(item, priority);
    } else if (item.waiting.value.priority < priority) {
      const { sinceMs, order } = item.waiting.value;
      this.#ready.remove(item.waiting);
      item.waiting = this.#ready.push(this.#ranked(item, priority, sinceMs, order));
    }
  }

  #enqueue(item: Item<K>, priority: number): void {
    const ranked = this.#ranked(item, priority, this.#clock.monotonic(), this.#arrivals++);
    const [receive] = this.#takers;
    if (receive !== undefined) {
      receive(this.#handOut(ranked));
      return;
    }
    item.waiting = this.#ready.push(ranked);
    this.#observer?.depth(this.#ready.size);
  }

  #ranked(item: Item<K>, priority: number, sinceMs: number, order: number): Ranked<K> {
    return { item, priority, sinceMs, order, rank: sinceMs - priority * this.#headStartMs };
  }

  #handOut({ item, priority, sinceMs }: Ranked<K>): K {
    const nowMs = this.#clock.monotonic();
    item.waiting = undefined;
    item.run = { sinceMs: nowMs, priority };
    this.#observer?.depth(this.#ready.size);
    this.#observer?.waited(nowMs - sinceMs);
    return item.key;
  }

  #setAlarm(): void {
    const first = this.#later.peek();
    if (first === undefined || (this.#alarm !== undefined && this.#alarm.dueMs <= first.dueMs)) return;
    this.#alarm?.timer.cancel();
    const waitMs = Math.max(0, first.dueMs - this.#clock.monotonic());
    const timer = this.#clock.timer(waitMs, () => this.#wake());
    this.#alarm = { dueMs: first.dueMs, timer };
  }

  #wake(): void {
    this.#alarm = undefined;
    const nowMs = this.#clock.monotonic();
    for (let next = this.#later.peek(); next !== undefined && next.dueMs <= nowMs; next = this.#later.peek()) {
      this.#later.pop();
      next.item.delayed = undefined;
      this.#add(next.item, next.priority);
    }
    this.#setAlarm();
  }
}
