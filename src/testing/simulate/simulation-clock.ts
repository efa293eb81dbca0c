/**
 * The time of a simulation, and at once its scheduler: everything that happens is a timer, and those that are due at
 * the same time fire in an order that is decided by the seed.
 *
 * 1. One timer fires at a time; the code that it wakes runs until it waits again, before the next one fires.
 * 2. `now` may jump; durations are measured with `monotonic`.
 */
import { type Clock, Heap, settled, type Timer } from "#base";
import { checkedDelay, sleepOn } from "../../base/system/sleep.ts";
import type { Decisions } from "./decisions.ts";

interface Scheduled {
  readonly dueMs: number;
  /** The order among those that are due at the same time. */
  readonly rank: number;
  readonly order: number;
  readonly fire: () => void;
}

export class SimulationClock implements Clock {
  readonly #timers = new Heap<Scheduled>(isBefore);
  readonly #decisions: Decisions;
  #elapsedMs = 0;
  #wallOffsetMs: number;
  #created = 0;

  constructor(startMs: number, decisions: Decisions) {
    this.#wallOffsetMs = startMs;
    this.#decisions = decisions;
  }

  now(): number {
    return this.#wallOffsetMs + this.#elapsedMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  timer(ms: number, fire: () => void): Timer {
    const dueMs = this.#elapsedMs + checkedDelay(ms);
    const entry = this.#timers.push({ dueMs, rank: this.#decisions.next(), order: this.#created++, fire });
    return { cancel: () => void this.#timers.remove(entry) };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn((delayMs, fire) => this.timer(delayMs, fire), ms, signal);
  }

  /** Sets the wall time forth or back. */
  jump(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  /** Until everything that is ready now has run. */
  async settle(): Promise<void> {
    await settled();
  }

  /** Fires the next timer if it is due until then, and lets the code that it wakes run. False if there is none. */
  async step(untilMs: number): Promise<boolean> {
    const next = this.#timers.peek();
    if (next === undefined || next.dueMs > untilMs) {
      this.#elapsedMs = Math.max(this.#elapsedMs, untilMs);
      return false;
    }
    this.#timers.pop();
    this.#elapsedMs = next.dueMs;
    next.fire();
    await this.settle();
    return true;
  }
}

function isBefore(a: Scheduled, b: Scheduled): boolean {
  if (a.dueMs !== b.dueMs) return a.dueMs < b.dueMs;
  return a.rank < b.rank || (a.rank === b.rank && a.order < b.order);
}
