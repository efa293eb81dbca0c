/** Moves a cluster's time until something is true. */
import { durationMs } from "#api";
import type { TestClock } from "./test-clock.ts";

export interface Limits {
  /** Of the cluster's time: milliseconds or a duration. Default: 5 minutes. */
  readonly within?: number | string | undefined;
  /** What is awaited, for the message. */
  readonly what?: string | undefined;
}

interface Moving {
  readonly clock: TestClock;
  waitingFor(): readonly string[];
}

const WITHIN_MS = 5 * 60_000;

export class NeverHappened extends Error {
  override readonly name = "NeverHappened";
}

export async function eventually<T>(
  cluster: Moving,
  read: () => Promise<T | undefined> | T | undefined,
  { within = WITHIN_MS, what = "what the test waits for" }: Limits = {},
): Promise<T> {
  const { clock } = cluster;
  const limitMs = typeof within === "number" ? within : durationMs(within);
  let passedMs = 0;
  for (;;) {
    await clock.settle();
    const value = await read();
    if (value !== undefined && value !== false) return value;
    const { nextDueMs } = clock;
    if (nextDueMs === undefined || passedMs + nextDueMs > limitMs) {
      const passed =
        nextDueMs === undefined
          ? `after ${passedMs} ms nothing is due any more`
          : `not within ${limitMs} ms of the cluster's time`;
      throw new NeverHappened([`${what} did not happen: ${passed}`, ...cluster.waitingFor()].join("\n  "));
    }
    await clock.advance(nextDueMs);
    passedMs += nextDueMs;
  }
}
