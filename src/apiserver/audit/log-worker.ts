/**
 * The thread that writes the audit log: see `batch-log.ts`.
 *
 * 1. One batch after the other: whatever comes meanwhile waits.
 * 2. Lines are written some at a time, so a file may be put aside a little before it is full. No line is split.
 */
import { parentPort, workerData } from "node:worker_threads";
import { realClock } from "#base";
import { type BatchMessage, type LogMessage, type LogReply, type LogWorkerData, readLines } from "./log-protocol.ts";
import { RotatingFile } from "./rotating-file.ts";

const CHUNK_LENGTH = 64 * 1024;

const port = parentPort;
if (port === null) throw new Error("this is a thread's work");
const { path, limits } = workerData as LogWorkerData;
const file = new RotatingFile(path, limits, realClock());
let phrases: string[] = [];
let before: Promise<void> = Promise.resolve();

port.on("message", (message: LogMessage) => {
  before = before.then(() => handle(message));
});

async function handle(message: LogMessage): Promise<void> {
  if (message === "forget") phrases = [];
  else if (message === "close") {
    await file.close();
    port?.close();
  } else port?.postMessage(await written(message));
}

async function written(message: BatchMessage): Promise<LogReply> {
  phrases.push(...message.phrases);
  const chunks: Buffer[] = [];
  readLines(message, phrases, CHUNK_LENGTH, (lines) => chunks.push(Buffer.from(lines)));
  try {
    await file.write(chunks);
    return {};
  } catch (error) {
    return { error: (error as Error).message };
  }
}
