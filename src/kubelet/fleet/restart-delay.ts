/** How long a container waits for its next start: 1 s at first, then 10 s, doubling up to 5 minutes. Pulls of images wait from 10 s on. */

export const FIRST_RESTART_MS = 1_000;
const BACKOFF_MS = 10_000;
const MAX_BACKOFF_MS = 300_000;

/** After so many restarts. */
export function restartDelayMs(crashes: number): number {
  return crashes === 0 ? FIRST_RESTART_MS : pullDelayMs(crashes - 1);
}

/** After so many failures before this one. */
export function pullDelayMs(failures: number): number {
  return Math.min(MAX_BACKOFF_MS, BACKOFF_MS * 2 ** failures);
}
