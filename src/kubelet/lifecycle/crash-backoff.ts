/**
 * How long a container that ended waits before it is started again: the first time not at all, then 10 s, doubling up to 5 minutes.
 * One that has run for 10 minutes since its last start begins anew.
 */

export interface CrashBackoff {
  /** How long the next start has to wait, counted from the end of the container. */
  readonly delayMs: number;
  /** When the delay was set: at the last start. */
  readonly sinceMs: number;
}

export interface CrashBackoffLimits {
  readonly initialMs: number;
  readonly maxMs: number;
}

export const CRASH_BACKOFF: CrashBackoffLimits = { initialMs: 10_000, maxMs: 300_000 };

export type StartVerdict =
  | { readonly start: true; readonly backoff: CrashBackoff }
  | { readonly start: false; readonly delayMs: number; readonly untilMs: number };

export function startVerdict(
  before: CrashBackoff | undefined,
  finishedAtMs: number,
  nowMs: number,
  { initialMs, maxMs }: CrashBackoffLimits = CRASH_BACKOFF,
): StartVerdict {
  if (before === undefined || finishedAtMs - before.sinceMs > 2 * maxMs)
    return { start: true, backoff: { delayMs: initialMs, sinceMs: nowMs } };
  const untilMs = finishedAtMs + before.delayMs;
  if (nowMs < untilMs) return { start: false, delayMs: before.delayMs, untilMs };
  return { start: true, backoff: { delayMs: Math.min(maxMs, before.delayMs * 2), sinceMs: nowMs } };
}
