/**
 * Time that moves only when told to: a day of timeouts and back-offs in a moment, the same way each time.
 *
 * 1. Timers fire in the order of their due time, then of their creation.
 * 2. Time never passes a pending timer: after each firing, the code it woke runs until it waits again, and what it
 *    schedules takes its place in the order, before time goes on.
 * 3. `now` and `monotonic` move together, except by `jump`, which moves wall time alone and fires nothing.
 * 4. An error thrown by a timer's function rejects the call that moved time; the timer counts as fired.
 */

import { Heap } from "../collections/heap.ts";
import type { Clock, Timer } from "./clock.ts";
import { settled } from "./event-loop.ts";
import { checkedDelay, sleepOn } from "./sleep.ts";

interface Scheduled {
  readonly dueMs: number;
  readonly order: number;
  readonly fire: () => void;
}

export interface IdleLimits {
  /** How far time may move. Default: any distance. */
  readonly maxMs?: number;
  /** How many timers may fire. Default: 100,000. */
  readonly maxTimers?: number;
}

export class VirtualClock implements Clock {
  readonly #timers = new Heap<Scheduled>((a, b) => a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order));
  #elapsedMs = 0;
  #wallOffsetMs: number;
  #created = 0;
  #moving = false;

  /** `startMs` is the wall time to begin with; the default is a round day, so that printed times read easily. */
  constructor(startMs = Date.UTC(2030, 0, 1)) {
    this.#wallOffsetMs = startMs;
  }

  now(): number {
    return this.#wallOffsetMs + this.#elapsedMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  timer(ms: number, fire: () => void): Timer {
    const dueMs = this.#elapsedMs + checkedDelay(ms);
    const entry = this.#timers.push({ dueMs, order: this.#created++, fire });
    return { cancel: () => void this.#timers.remove(entry) };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn((delayMs, fire) => this.timer(delayMs, fire), ms, signal);
  }

  /** How many timers are scheduled. */
  get pending(): number {
    return this.#timers.size;
  }

  /** How long until the next timer fires; undefined if none is scheduled. */
  get nextDueMs(): number | undefined {
    const next = this.#timers.peek();
    return next === undefined ? undefined : Math.max(0, next.dueMs - this.#elapsedMs);
  }

  /** Moves wall time alone, forth or back, as when somebody sets the machine's clock. */
  jump(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  /** Lets `ms` pass, firing what falls due on the way. */
  async advance(ms: number): Promise<void> {
    if (!(ms >= 0 && ms < Infinity)) throw new RangeError(`time advances by a finite amount, not by ${ms}`);
    const targetMs = this.#elapsedMs + ms;
    await this.#move(async () => {
      await this.#fireUntil(targetMs, Infinity);
      this.#elapsedMs = targetMs;
    });
  }

  /**
   * Jumps from timer to timer until none is left; throws, naming what is still scheduled, when a limit is reached
   * first.
   */
  async runUntilIdle({ maxMs = Infinity, maxTimers = 100_000 }: IdleLimits = {}): Promise<void> {
    const limitMs = Math.min(this.#elapsedMs + maxMs, Number.MAX_VALUE);
    await this.#move(async () => {
      await this.#fireUntil(limitMs, maxTimers);
      if (this.#timers.size > 0) throw new Error(`not idle: ${this.#describe()}`);
    });
  }

  async #fireUntil(targetMs: number, maxTimers: number): Promise<void> {
    await settled();
    for (let fired = 0; fired < maxTimers; fired++) {
      const next = this.#timers.peek();
      if (next === undefined || next.dueMs > targetMs) return;
      this.#timers.pop();
      this.#elapsedMs = next.dueMs;
      next.fire();
      await settled();
    }
  }

  async #move(run: () => Promise<void>): Promise<void> {
    if (this.#moving)
      throw new Error("time is already moving: wait for the call before, and don't move it from a timer");
    this.#moving = true;
    try {
      await run();
    } finally {
      this.#moving = false;
    }
  }

  #describe(): string {
    const inOrder = [...this.#timers].sort((a, b) => a.dueMs - b.dueMs || a.order - b.order);
    const shown = inOrder.slice(0, 10).map(({ dueMs }) => `in ${dueMs - this.#elapsedMs} ms`);
    const rest = inOrder.length - shown.length;
    const list = shown.join(", ") + (rest > 0 ? `, and ${rest} more` : "");
    return `${inOrder.length} timer(s) still scheduled after ${this.#elapsedMs} ms: ${list}`;
  }
}
