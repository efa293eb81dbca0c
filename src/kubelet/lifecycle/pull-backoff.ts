/** How long the next pull of an image waits after one has failed: 10 s, doubling up to 5 minutes. */

export interface PullFailure {
  readonly atMs: number;
  /** How long the next pull waits. */
  readonly delayMs: number;
  readonly message: string;
}

const FIRST_DELAY_MS = 10_000;
const LAST_DELAY_MS = 300_000;

/** How soon a container that could not be started is tried again. */
export const START_RETRY_MS = 10_000;

export function pullFailed(before: PullFailure | undefined, nowMs: number, message: string): PullFailure {
  const delayMs = before === undefined ? FIRST_DELAY_MS : Math.min(LAST_DELAY_MS, before.delayMs * 2);
  return { atMs: nowMs, delayMs, message };
}

/** Whether the next pull still has to wait. */
export function isBackedOff({ atMs, delayMs }: PullFailure, nowMs: number): boolean {
  return nowMs < atMs + delayMs;
}
