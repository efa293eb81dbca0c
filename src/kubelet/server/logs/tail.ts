/**
 * Finds the beginning of the last lines of a log from its end: the cost depends on the lines, not on the size of the
 * log.
 */
import type { FileHandle } from "node:fs/promises";
import { parseLogLine } from "./log-line.ts";

const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/**
 * The offset at which the last `lines` lines begin. A line in parts is one line. `size`: how much of the file to
 * consider.
 */
export async function tailStart(file: FileHandle, size: number, lines: number): Promise<number> {
  if (lines === 0) return size;
  let complete = 0;
  /** Bytes from `from` on that are read but not used yet; they may begin in the middle of a line. */
  let pending: Buffer = Buffer.alloc(0);
  let isLast = true;
  for (let from = size; from > 0; ) {
    const length = Math.min(BLOCK_BYTES, from);
    from -= length;
    pending = Buffer.concat([await readAt(file, from, length), pending]);
    let end = pending.length;
    for (;;) {
      // `end` is after the newline of the current line, or the end of the file.
      const start = end < 2 ? 0 : pending.lastIndexOf(NEWLINE, end - 2) + 1;
      if (end === 0 || (start === 0 && from > 0)) break;
      const hasNewline = pending[end - 1] === NEWLINE;
      const line = parseLogLine(pending, start, hasNewline ? end - 1 : end);
      if (isLast || line?.isPartial !== true) {
        if (complete === lines) return from + end;
        complete++;
      }
      isLast = false;
      end = start;
    }
    pending = pending.subarray(0, end);
  }
  return 0;
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const block = Buffer.allocUnsafe(length);
  const { bytesRead } = await file.read(block, 0, length, position);
  return block.subarray(0, bytesRead);
}
