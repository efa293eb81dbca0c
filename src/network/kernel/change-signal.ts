/** Coalesces changes: marks that arrive while a loop works wake it once afterwards. */
import type { Clock } from "#base";

const MAX_REVISIONS = 32;

export class ChangeSignal {
  /** Set from the start, so that the first `wait` returns at once even if nothing exists yet. */
  #isMarked = true;
  #wake: (() => void) | undefined;
  #revisions: number[] = [];

  /** `revision`: the resourceVersion of the change, for the flow record. */
  mark(revision?: number): void {
    this.#isMarked = true;
    if (revision !== undefined && this.#revisions.push(revision) > MAX_REVISIONS) this.#revisions.shift();
    this.#wake?.();
  }

  /** The revisions that were marked since the last call. */
  takeRevisions(): readonly number[] {
    return this.#revisions.splice(0);
  }

  /** Returns once a change is marked, or after the timeout. */
  async wait(clock: Clock, timeoutMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#isMarked) {
      const woken = Promise.withResolvers<void>();
      const timer = clock.timer(timeoutMs, woken.resolve);
      const abort = () => woken.reject(signal.reason);
      signal.addEventListener("abort", abort, { once: true });
      this.#wake = woken.resolve;
      try {
        await woken.promise;
      } finally {
        this.#wake = undefined;
        timer.cancel();
        signal.removeEventListener("abort", abort);
      }
    }
    this.#isMarked = false;
  }
}
