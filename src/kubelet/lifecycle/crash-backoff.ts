/**
 * How long an exited container waits before it is restarted: not at all the first time, then 10 s, doubling up to 5
 * minutes. A container that has run for 10 minutes starts over.
 */

export interface CrashBackoff {
  /** How long the next restart waits, counted from the container's exit. */
  readonly delayMs: number;
  /** When the delay was set: at the last start. */
  readonly sinceMs: number;
}

export interface CrashBackoffLimits {
  readonly initialMs: number;
  readonly maxMs: number;
}

export const CRASH_BACKOFF: CrashBackoffLimits = { initialMs: 10_000, maxMs: 300_000 };

/** With the feature gate ReduceDefaultCrashLoopBackOffDecay. */
export const REDUCED_CRASH_BACKOFF: CrashBackoffLimits = { initialMs: 1_000, maxMs: 60_000 };

/** A container that has run for this long starts over, whatever the limits. */
const RESET_MS = 600_000;

export type StartVerdict =
  | { readonly start: true; readonly backoff: CrashBackoff }
  | { readonly start: false; readonly delayMs: number; readonly untilMs: number };

export function startVerdict(
  before: CrashBackoff | undefined,
  finishedAtMs: number,
  nowMs: number,
  { initialMs, maxMs }: CrashBackoffLimits = CRASH_BACKOFF,
): StartVerdict {
  if (before === undefined || finishedAtMs - before.sinceMs > RESET_MS)
    return { start: true, backoff: { delayMs: initialMs, sinceMs: nowMs } };
  const untilMs = finishedAtMs + before.delayMs;
  if (nowMs < untilMs) return { start: false, delayMs: before.delayMs, untilMs };
  return { start: true, backoff: { delayMs: Math.min(maxMs, before.delayMs * 2), sinceMs: nowMs } };
}
