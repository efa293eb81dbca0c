/**
 * Keeps flow records in a file of the data directory across restarts.
 *
 *     flows.ndjson.old ──► flows.ndjson ──► recorder ──► flows.ndjson
 *
 * 1. Recording never waits for the disk and never fails because of it: a write error is logged once, and recording
 *    continues in memory.
 * 2. At most two files of LIMIT_BYTES. A line cut off by a crash is skipped.
 * 3. Reads are not kept.
 */
import { createWriteStream, type WriteStream } from "node:fs";
import { readFile, rename } from "node:fs/promises";
import type { Logger } from "#base";
import { type FlowRecord, isRead, type Recorder } from "#flows";

const LIMIT_BYTES = 32 * 1024 * 1024;

export interface FlowFileOptions {
  readonly path: string;
  readonly recorder: Recorder;
  readonly log: Logger;
  readonly limitBytes?: number;
}

export interface FlowFile {
  /** Resolves when all records are in the file. */
  close(): Promise<void>;
}

export async function openFlowFile(options: FlowFileOptions): Promise<FlowFile> {
  const { path, recorder, log, limitBytes = LIMIT_BYTES } = options;
  const [older, newer] = [await linesOf(`${path}.old`), await linesOf(path)];
  const read = [...older.lines, ...newer.lines].flatMap(recordOf);
  recorder.restore(read);
  if (read.length > 0) log.info("flow records were loaded", { records: read.length });
  let bytes = newer.bytes;
  let failed = false;
  const fail = (error: unknown) => {
    if (!failed) log.warn("flow records cannot be written; they are kept in memory only", { path, error });
    failed = true;
  };
  const open = () => createWriteStream(path, { flags: "a", mode: 0o600 }).on("error", fail);
  let stream = open();
  let turning: Promise<void> | undefined;
  let waiting: string[] = [];

  const turn = async () => {
    await ended(stream);
    await rename(path, `${path}.old`).catch(fail);
    stream = open();
    bytes = 0;
    turning = undefined;
    for (const line of waiting.splice(0)) write(line);
  };
  const write = (line: string) => {
    if (failed) return;
    if (turning !== undefined) {
      waiting.push(line);
      return;
    }
    stream.write(line);
    bytes += line.length;
    if (bytes > limitBytes) turning = turn();
  };
  const leave = recorder.follow((record) => {
    if (record.type === "request" && isRead(record.verb)) return;
    write(`${JSON.stringify(record)}\n`);
  });
  return {
    async close() {
      leave();
      while (turning !== undefined) await turning;
      await ended(stream);
      waiting = [];
    },
  };
}

function ended(stream: WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.once("error", () => resolve());
    stream.end(() => resolve());
  });
}

async function linesOf(path: string): Promise<{ readonly lines: readonly string[]; readonly bytes: number }> {
  try {
    const text = await readFile(path, "utf8");
    return { lines: text.split("\n"), bytes: text.length };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { lines: [], bytes: 0 };
    throw error;
  }
}

function recordOf(line: string): FlowRecord[] {
  try {
    const read = JSON.parse(line) as FlowRecord;
    return ["request", "work", "delivery"].includes(read.type) ? [read] : [];
  } catch {
    return []; // a line cut off by a crash, or an empty one
  }
}
