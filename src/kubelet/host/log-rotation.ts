/**
 * Rotates container logs that have reached their maximum size (10 MiB by default). The newest rotated files are kept,
 * all but the last one compressed.
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
  /** Including the current one. */
  readonly maxFiles: number;
  /** How many logs are rotated at a time. */
  readonly workers: number;
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

export async function runLogRotation(options: LogRotationOptions, signal: AbortSignal): Promise<void> {
  const { runtime, clock, log, workers, intervalMs } = options;
  for (;;) {
    await clock.sleep(intervalMs, signal);
    try {
      const listed = await runtime.listContainers(undefined, signal);
      const running = listed.filter(({ state, labels }) => state === "running" && labels[POD_UID] !== undefined);
      const next = running.values();
      const worker = async () => {
        for (const container of next)
          await rotateIfLarge(options, container, signal).catch((error: unknown) => {
            if (isAbort(error, signal)) throw error;
            log.warn("container log could not be rotated", { container: nameOf(container), error });
          });
      };
      await Promise.all(Array.from({ length: workers }, worker));
    } catch (error) {
      if (isAbort(error, signal)) return;
      log.warn("log rotation failed", { error });
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

/** The oldest ones, so that there are at most `maxFiles` after this rotation. */
export function tooMany(aside: readonly string[], maxFiles: number): readonly string[] {
  return aside.slice(0, Math.max(0, aside.length - (maxFiles - 2)));
}

async function compress(path: string): Promise<void> {
  const temporary = `${path}.tmp`;
  await pipeline(createReadStream(path), createGzip(), createWriteStream(temporary));
  await rename(temporary, `${path}.gz`);
  await rm(path, { force: true });
}
