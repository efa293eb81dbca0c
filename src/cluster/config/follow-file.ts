/**
 * A file that may change while the cluster runs: told each time it holds something else.
 *
 * 1. It is read every few seconds. A notice by the system would miss files that are swapped by way of links, as those of mounted Secrets are.
 * 2. What cannot be read, or is refused by `changed`, leaves the last good state, is told once, and is tried again when it changes.
 */
import { readFile } from "node:fs/promises";
import type { Clock } from "#base";

const EVERY_MS = 5_000;

export interface FollowFileOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** What the file held when it was first read. */
  readonly known: string;
  changed(text: string): void;
  failed(error: unknown): void;
}

export async function followFile(file: string, options: FollowFileOptions): Promise<void> {
  const { clock, signal, changed, failed } = options;
  let seen: string | undefined = options.known;
  while (!signal.aborted) {
    await clock.sleep(EVERY_MS, signal).catch(() => {});
    if (signal.aborted) return;
    try {
      const text = await readFile(file, "utf8");
      if (text === seen) continue;
      seen = text;
      changed(text);
    } catch (error) {
      if (seen === undefined) continue;
      failed(error);
      // A file that is gone is told of once; one that cannot be understood is kept in mind as it is.
      if ((error as NodeJS.ErrnoException).code !== undefined) seen = undefined;
    }
  }
}
