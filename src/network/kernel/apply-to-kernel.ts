/**
 * The loop of every part that programs the kernel: it applies changes, one application after the other.
 *
 * 1. Changes that arrive during an application are applied together in the next one: flapping objects cost no more
 *    than the kernel takes.
 * 2. A failed application is retried with backoff.
 * 3. Everything is applied again at every resync, in case somebody else has changed it.
 */
import { Backoff, type Clock, type Logger, type Random } from "#base";
import type { WorkReporter } from "#client";
import type { ChangeSignal } from "./change-signal.ts";

export interface ApplyOptions {
  readonly changed: ChangeSignal;
  /** `whole`: apply everything, not only what has changed. Returns what was applied; undefined if nothing was. */
  readonly apply: (whole: boolean, signal: AbortSignal) => Promise<string | undefined>;
  /** Receives each application that a change has caused. */
  readonly reporter?: WorkReporter;
  readonly resyncMs: number;
  /** Called after the first application. */
  readonly onReady?: (() => void) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Until the signal aborts. */
export async function applyToKernel(options: ApplyOptions, signal: AbortSignal): Promise<void> {
  const { changed, apply, resyncMs, onReady, clock, random, log, reporter } = options;
  const backoff = new Backoff({ initialMs: 200, maxMs: 30_000, jitter: 0.2 }, random);
  let isReady = false;
  let resyncAt = clock.monotonic() + resyncMs;
  for (;;) {
    await changed.wait(clock, Math.max(0, resyncAt - clock.monotonic()), signal);
    const start = clock.monotonic();
    const [startedAt, woken] = [clock.now(), changed.takeRevisions()];
    try {
      const applied = await apply(start >= resyncAt, signal);
      if (applied !== undefined && woken.length > 0) {
        const call = { to: "kernel", what: applied, afterMs: 0, tookMs: clock.monotonic() - start };
        reporter?.report({ about: applied, woken, startedAt, decided: "", calls: [call] });
      }
      if (start >= resyncAt) resyncAt = start + resyncMs;
      backoff.reset();
      if (!isReady) onReady?.();
      isReady = true;
    } catch (error) {
      if (signal.aborted) throw error;
      log.error("changes could not be applied to the kernel; retrying", { error });
      for (const revision of woken) changed.mark(revision);
      changed.mark();
      await clock.sleep(backoff.next(), signal);
    }
  }
}
