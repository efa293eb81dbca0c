/**
 * The thread that writes the audit log: see `batch-log.ts`.
 *
 * 1. Batches are written one after the other.
 * 2. Its niceness is higher than that of the serving thread.
 * 3. Lines are written some at a time, so a file may be rotated a little before it is full. No line is split.
 */
import { appendFileSync } from "node:fs";
import { getPriority, platform, setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { realClock } from "#base";
import { LineBuffer } from "./line-buffer.ts";
import type { BatchMessage, LogMessage, LogReply, LogWorkerData } from "./log-protocol.ts";
import { RotatingFile } from "./rotating-file.ts";

/** A file is rotated when the next write would exceed its limit. */
const BUFFER_BYTES = 256 * 1024;
const LEAST_WRITES_OF_A_FILE = 4;
/** Requests go first. The thread still gets a fourth of a busy processor. */
const NICER = 5;
const LEAST_PRIORITY = 19;

const port = parentPort;
if (port === null) throw new Error("log-worker.ts runs as a worker thread only");
const { path, limits } = workerData as LogWorkerData;
// Synchronous: this thread has nothing else to do, and handing each write to another one costs more.
const file = new RotatingFile(path, limits, realClock(), ({ fd }, bytes) => appendFileSync(fd, bytes));
const size =
  limits.maxBytes === 0 ? BUFFER_BYTES : Math.min(BUFFER_BYTES, Math.ceil(limits.maxBytes / LEAST_WRITES_OF_A_FILE));
const lines = new LineBuffer(size, (bytes) => file.write([bytes]));
// On Linux this concerns the calling thread only.
if (platform() === "linux") setPriority(Math.min(getPriority() + NICER, LEAST_PRIORITY));
let before: Promise<void> = Promise.resolve();

port.on("message", (message: LogMessage) => {
  before = before.then(() => handle(message));
});

async function handle(message: LogMessage): Promise<void> {
  if (message === "forget") lines.forget();
  else if (message === "close") {
    await file.close();
    port?.close();
  } else port?.postMessage(await written(message));
}

async function written(message: BatchMessage): Promise<LogReply> {
  try {
    await lines.take(message);
    return {};
  } catch (error) {
    return { error: (error as Error).message };
  }
}
