/**
 * Lines of a container's log as CRI writes them: `2026-01-02T03:04:05.678901234Z stdout F what was written`.
 *
 * A line that was too long for the runtime, or not ended yet, comes in parts: `P` says that it goes on in the next line of the same stream.
 */

const SPACE = 0x20;
const COLON = 0x3a;
const PARTIAL = 0x50;
/** Where stderr has an e, stdout has an o. */
const LETTER_E = 0x65;

export type StreamName = "stdout" | "stderr";

/** Where the parts of a line are, as offsets into its block: nothing is copied. */
export interface LogLine {
  readonly stream: StreamName;
  readonly isPartial: boolean;
  readonly timeEnd: number;
  readonly contentStart: number;
}

/** The line from `start` up to `end`, which is its newline. Undefined: not of this format. */
export function parseLogLine(block: Buffer, start: number, end: number): LogLine | undefined {
  const timeEnd = block.indexOf(SPACE, start);
  if (timeEnd < 0 || timeEnd >= end) return undefined;
  const streamEnd = timeEnd + 7;
  if (streamEnd + 1 >= end || block[streamEnd] !== SPACE) return undefined;
  // Tags are separated by colons; the first says whether the line is whole.
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
