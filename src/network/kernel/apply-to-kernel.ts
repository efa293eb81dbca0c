/**
 * Tells the kernel whenever something has changed, one time after the other.
 *
 * 1. What changes while the kernel is told is told next, all at once: what flaps costs no more than the kernel takes.
 * 2. What could not be told is tried again after a while.
 */
import { Backoff, type Clock, type Logger, type Random } from "#base";
import type { WorkReporter } from "#client";

const MAX_REVISIONS = 32;

/** Somebody waits for something to have changed. */
export class Changed {
  /** The first look happens even where there is nothing. */
  #is = true;
  #wake: (() => void) | undefined;
  #revisions: number[] = [];

  /** `revision`: what has changed it, for those who want to see why. */
  mark(revision?: number): void {
    this.#is = true;
    if (revision !== undefined && this.#revisions.push(revision) > MAX_REVISIONS) this.#revisions.shift();
    this.#wake?.();
  }

  /** By what it has changed since the last time. */
  take(): readonly number[] {
    return this.#revisions.splice(0);
  }

  /** Returns when it has, or after so long. */
  async wait(clock: Clock, timeoutMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#is) {
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
    this.#is = false;
  }
}

export interface TellOptions {
  readonly changed: Changed;
  /** `whole`: everything is to be told again, in case somebody else has changed it. Returns what was told; undefined: nothing. */
  readonly tell: (whole: boolean, signal: AbortSignal) => Promise<string | undefined>;
  /** Who wants to see it. */
  readonly reporter?: WorkReporter | undefined;
  /** How often everything is told again. */
  readonly resyncMs: number;
  /** Called once the kernel knows everything. */
  readonly onReady: (() => void) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Until the signal aborts. */
export async function tellKernel(options: TellOptions, signal: AbortSignal): Promise<void> {
  const { changed, tell, resyncMs, onReady, clock, random, log, reporter } = options;
  const backoff = new Backoff({ initialMs: 200, maxMs: 30_000, jitter: 0.2 }, random);
  let isReady = false;
  let resyncAt = clock.monotonic() + resyncMs;
  for (;;) {
    await changed.wait(clock, Math.max(0, resyncAt - clock.monotonic()), signal);
    const start = clock.monotonic();
    const [startedAt, woken] = [clock.now(), changed.take()];
    try {
      const told = await tell(start >= resyncAt, signal);
      if (told !== undefined && woken.length > 0) {
        const call = { to: "kernel", what: told, afterMs: 0, tookMs: clock.monotonic() - start };
        reporter?.report({ about: told, woken, startedAt, decided: "", calls: [call] });
      }
      if (start >= resyncAt) resyncAt = start + resyncMs;
      backoff.reset();
      if (!isReady) onReady?.();
      isReady = true;
    } catch (error) {
      if (signal.aborted) throw error;
      log.error("the kernel could not be told; it is tried again", { error });
      for (const revision of woken) changed.mark(revision);
      changed.mark();
      await clock.sleep(backoff.next(), signal);
    }
  }
}
