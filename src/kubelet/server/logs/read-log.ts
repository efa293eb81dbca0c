/**
 * Reads a container's log, optionally follows it: across rotations, until the container has exited and everything is
 * shown.
 *
 *     file ──► blocks ──► LogRenderer ──► bytes
 *      └···► end of file: has the directory changed? is it another file now? does the container still run?
 *
 * 1. A rotated file is read to its end before the next one is opened.
 * 2. The container's state is checked before the last read of its file: its last output is not lost.
 * 3. No file or watch stays open when it ends, throws, or is no longer read.
 */
import { watch } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { Clock } from "#base";
import { type LogChoice, LogRenderer } from "./render.ts";
import { tailStart } from "./tail.ts";

const BLOCK_BYTES = 64 * 1024;
/** The polling interval without change events. */
const LOOK_MS = 1_000;

export interface LogRequest extends LogChoice {
  readonly path: string;
  readonly tailLines?: number | undefined;
  readonly follow?: boolean | undefined;
}

export interface LogSurroundings {
  readonly clock: Clock;
  /** Whether the container may still write. */
  readonly isRunning: () => Promise<boolean>;
}

export async function* readLog(
  { path, tailLines, follow = false, ...choice }: LogRequest,
  { clock, isRunning }: LogSurroundings,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void> {
  const renderer = new LogRenderer(choice);
  using changes = follow ? new DirectoryChanges(path, clock) : undefined;
  let file = await opened(path, changes, isRunning, signal);
  if (file === undefined) return;
  try {
    let position = tailLines === undefined ? 0 : await tailStart(file, (await file.stat()).size, tailLines);
    const block = Buffer.allocUnsafe(BLOCK_BYTES);
    let mayEnd = false;
    let askedMs = Number.NEGATIVE_INFINITY;
    for (;;) {
      const { bytesRead } = await file.read(block, 0, BLOCK_BYTES, position);
      position += bytesRead;
      const shown = renderer.render(block.subarray(0, bytesRead));
      if (shown.length > 0) yield shown;
      if (renderer.isFull || signal.aborted) return;
      if (bytesRead > 0) continue;
      if (changes === undefined || mayEnd) return;
      if (await isAnother(file, path)) {
        // The runtime has opened the next file: this one is complete, but may have grown since the last read.
        if ((await file.stat()).size > position) continue;
        await file.close();
        file = await open(path);
        position = 0;
        renderer.nextFile();
        continue;
      }
      if (clock.monotonic() - askedMs >= LOOK_MS) {
        askedMs = clock.monotonic();
        mayEnd = !(await isRunning());
      }
      if (!mayEnd) await changes.next(signal);
    }
  } finally {
    await file.close();
  }
}

/** A container that was just created has no log yet. */
async function opened(
  path: string,
  changes: DirectoryChanges | undefined,
  isRunning: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<FileHandle | undefined> {
  for (;;) {
    const running = await isRunning();
    try {
      return await open(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      if (changes === undefined || !running || signal.aborted) throw error;
    }
    await changes.next(signal);
  }
}

/** Whether the path is another file than the open one. False while there is none. */
async function isAnother(file: FileHandle, path: string): Promise<boolean> {
  try {
    const [mine, found] = await Promise.all([file.stat(), stat(path)]);
    return mine.ino !== found.ino || mine.dev !== found.dev;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** Waits for changes of a file: by events, and by polling. */
class DirectoryChanges implements Disposable {
  readonly #clock: Clock;
  readonly #watcher: ReturnType<typeof watch> | undefined;
  #hasChanged = false;
  #wake: (() => void) | undefined;

  constructor(path: string, clock: Clock) {
    this.#clock = clock;
    const name = basename(path);
    try {
      this.#watcher = watch(dirname(path), { persistent: false }, (_, changed) => {
        if (changed === null || changed === name) this.#changed();
      });
      // The directory may be removed while it is watched: polling suffices then.
      this.#watcher.on("error", () => this.#changed());
    } catch {
      // No inotify watches left, or no directory: polling suffices.
      this.#watcher = undefined;
    }
  }

  /** Resolves on a change since the last call, or when the signal aborts. */
  async next(signal: AbortSignal): Promise<void> {
    if (this.#hasChanged || signal.aborted) {
      this.#hasChanged = false;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = this.#clock.timer(LOOK_MS, resolve);
    const stop = () => resolve();
    signal.addEventListener("abort", stop, { once: true });
    await promise;
    signal.removeEventListener("abort", stop);
    timer.cancel();
    this.#wake = undefined;
    this.#hasChanged = false;
  }

  #changed(): void {
    this.#hasChanged = true;
    this.#wake?.();
  }

  [Symbol.dispose](): void {
    this.#watcher?.close();
  }
}
