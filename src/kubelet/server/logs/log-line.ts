/**
 * Lines of a log in CRI's format: `2026-01-02T03:04:05.678901234Z stdout F text`.
 *
 * A long line is written in parts: the tag `P` means that it continues in the next line of the same stream. Lines are
 * parsed as bytes, because a container may write anything: decoding would change what is not UTF-8.
 */

const SPACE = 0x20;
const COLON = 0x3a;
const PARTIAL = 0x50;
/** The fourth letter of `stderr`; that of `stdout` is an o. */
const LETTER_E = 0x65;

export type StreamName = "stdout" | "stderr";

/** Offsets of a line's parts in its block. */
export interface LogLine {
  readonly stream: StreamName;
  readonly isPartial: boolean;
  readonly timeEnd: number;
  readonly contentStart: number;
}

/** The line from `start` to `end`, its newline. Undefined if it is not in this format. */
export function parseLogLine(block: Buffer, start: number, end: number): LogLine | undefined {
  const timeEnd = block.indexOf(SPACE, start);
  if (timeEnd < 0 || timeEnd >= end) return undefined;
  const streamEnd = timeEnd + 7;
  if (streamEnd + 1 >= end || block[streamEnd] !== SPACE) return undefined;
  // Tags are separated by colons; the first is F or P.
  const tag = streamEnd + 1;
  let tagsEnd = tag + 1;
  if (tagsEnd < end && block[tagsEnd] === COLON) tagsEnd = block.indexOf(SPACE, tagsEnd);
  if (tagsEnd < 0 || tagsEnd > end || (tagsEnd < end && block[tagsEnd] !== SPACE)) return undefined;
  return {
    stream: block[timeEnd + 4] === LETTER_E ? "stderr" : "stdout",
    isPartial: block[tag] === PARTIAL,
    timeEnd,
    contentStart: Math.min(tagsEnd + 1, end),
  };
}
