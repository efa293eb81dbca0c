/**
 * Files that flags name: read once, or followed while the cluster runs.
 *
 * 1. A followed file is polled. File system notifications would miss files that are replaced through symbolic links,
 *    such as mounted Secrets.
 * 2. A followed file that cannot be read, or that `changed` refuses, is reported once and tried again when it changes.
 */
import { readFile } from "node:fs/promises";
import type { Clock, Maybe } from "#base";
import { ClusterError } from "./errors.ts";

const EVERY_MS = 5_000;

/** Throws ClusterError, which names the flag. */
export async function readFlag(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new ClusterError(`${flag}: ${(error as Error).message}.`, { cause: error });
  }
}

export function joined(...bundles: readonly string[]): string {
  return bundles.map((pem) => `${pem.trimEnd()}\n`).join("");
}

export interface FollowFileOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** What the file held when it was first read. */
  readonly known: string;
  /** Throws, or rejects, if the text is refused. */
  changed(text: string): Maybe<void>;
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
      await changed(text);
    } catch (error) {
      if (seen === undefined) continue;
      failed(error);
      // A missing file is reported once; an invalid one is not reported again while it stays the same.
      if ((error as NodeJS.ErrnoException).code !== undefined) seen = undefined;
    }
  }
}
