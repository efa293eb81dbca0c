/**
 * Keeps the logs of containers from growing without end: at 10 MiB a log is put aside and begun anew; of those put aside the newest few stay, compressed
 * except for the last.
 *
 *     0.log ──► 0.log.20300101-000000 ──► 0.log.20300101-000000.gz ──► gone
 */
import { createReadStream, createWriteStream } from "node:fs";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { type Clock, isAbort, type Logger } from "#base";
import {
  attemptOf,
  containerLogPath,
  nameOf,
  POD_NAME,
  POD_NAMESPACE,
  POD_UID,
  podLogDirectory,
} from "../containers/index.ts";
import type { Container, Runtime } from "../runtime/runtime.ts";

export interface LogRotationOptions {
  readonly runtime: Pick<Runtime, "listContainers" | "reopenContainerLog">;
  readonly podLogsRoot: string;
  readonly maxBytes: number;
  /** The one that is written included. */
  readonly maxFiles: number;
  readonly clock: Clock;
  readonly log: Logger;
}

const CHECK_MS = 10_000;

export async function runLogRotation(options: LogRotationOptions, signal: AbortSignal): Promise<void> {
  const { runtime, clock, log } = options;
  for (;;) {
    await clock.sleep(CHECK_MS, signal);
    try {
      for (const container of await runtime.listContainers(undefined, signal)) {
        if (container.state !== "running" || container.labels[POD_UID] === undefined) continue;
        await rotateIfLarge(options, container, signal).catch((error: unknown) => {
          if (isAbort(error, signal)) throw error;
          log.warn("a container's log could not be rotated", { container: nameOf(container), error });
        });
      }
    } catch (error) {
      if (isAbort(error, signal)) return;
      log.warn("logs could not be rotated", { error });
    }
  }
}

async function rotateIfLarge(options: LogRotationOptions, container: Container, signal: AbortSignal): Promise<void> {
  const { runtime, podLogsRoot, maxBytes, maxFiles, clock } = options;
  const { labels } = container;
  const metadata = { name: labels[POD_NAME] ?? "", namespace: labels[POD_NAMESPACE] ?? "", uid: labels[POD_UID] ?? "" };
  const path = join(
    podLogDirectory(podLogsRoot, { metadata }),
    containerLogPath(nameOf(container), attemptOf(container)),
  );
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size < maxBytes) return;
  const aside = await logsAside(path);
  for (const old of tooMany(aside, maxFiles)) await rm(old, { force: true });
  for (const old of (await logsAside(path)).filter((name) => !name.endsWith(".gz"))) await compress(old);
  const stamp = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  await rename(path, `${path}.${stamp}`);
  await runtime.reopenContainerLog(container.id, signal);
}

async function logsAside(path: string): Promise<readonly string[]> {
  const names = await readdir(dirname(path));
  return names
    .filter((name) => name.startsWith(`${basename(path)}.`) && !name.endsWith(".tmp"))
    .sort()
    .map((name) => join(dirname(path), name));
}

/** The oldest, so that with the current one and the one to come there are no more than allowed. */
export function tooMany(aside: readonly string[], maxFiles: number): readonly string[] {
  return aside.slice(0, Math.max(0, aside.length - (maxFiles - 2)));
}

async function compress(path: string): Promise<void> {
  const temporary = `${path}.tmp`;
  await pipeline(createReadStream(path), createGzip(), createWriteStream(temporary));
  await rename(temporary, `${path}.gz`);
  await rm(path, { force: true });
}
