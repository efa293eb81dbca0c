/**
 * Calls that reconciles make to others than the API server, such as storage drivers, for the flow record.
 *
 *     reconcile ──► driver: recorded ──► … ──► its writes carry what it called
 *
 * 1. It only observes: calls are neither delayed nor changed.
 * 2. Several reconciles may run at once: a call belongs to the reconcile that it is made in.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock } from "#base";
import type { Call } from "#flows";

const MAX_CALLS = 16;
const MAX_WORDS = 120;

export class CallLog {
  readonly #clock: Clock;
  readonly #noting = new AsyncLocalStorage<Noting>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Makes the call. `to`: whom, as diagrams name it. */
  async record<T>(to: string, what: string, call: () => Promise<T>): Promise<T> {
    const noting = this.#noting.getStore();
    if (noting === undefined) return call();
    const start = this.#clock.monotonic();
    const note = (failed?: string) => {
      if (noting.calls.length === MAX_CALLS) noting.calls.shift();
      const afterMs = start - noting.startMs;
      const tookMs = this.#clock.monotonic() - start;
      noting.calls.push({ to, what, afterMs, tookMs, ...(failed !== undefined && { failed }) });
    };
    try {
      const answer = await call();
      note();
      return answer;
    } catch (error) {
      note((error instanceof Error ? error.message : String(error)).slice(0, MAX_WORDS));
      throw error;
    }
  }

  /** Runs the work, and returns what it called. */
  async during<R>(work: () => R | Promise<R>): Promise<{ readonly result: R; readonly calls: readonly Call[] }> {
    const noting: Noting = { startMs: this.#clock.monotonic(), calls: [] };
    return { result: await this.#noting.run(noting, work), calls: noting.calls };
  }
}

interface Noting {
  readonly startMs: number;
  readonly calls: Call[];
}
