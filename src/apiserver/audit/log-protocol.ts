/** What the thread that serves requests and the one that writes the audit log tell each other. */
import type { RotationLimits } from "./rotating-file.ts";

export interface LogWorkerData {
  readonly path: string;
  readonly limits: RotationLimits;
}

/**
 * Lines, piece by piece: the number of a phrase, or so many characters of the text.
 * Phrases that are new are told along, and get the numbers that follow.
 */
export interface BatchMessage {
  readonly events: number;
  readonly ops: Int32Array;
  /** One text, in parts. */
  readonly texts: readonly string[];
  readonly phrases: readonly string[];
}

/** `forget`: the next phrase is number 0. `close`: there will be no more. */
export type LogMessage = BatchMessage | "forget" | "close";

/** One for each batch, in order. */
export interface LogReply {
  readonly error?: string;
}

export const END_OF_LINE = -1;

/** No text is empty: that would be the end of the line. */
export function textOp(length: number): number {
  return -1 - length;
}

/** Calls with lines, some at a time, each with its end. */
export function readLines(
  { ops, texts }: BatchMessage,
  phrases: readonly string[],
  chunkLength: number,
  take: (lines: string) => void,
): void {
  const text = texts.join("");
  let at = 0;
  let lines = "";
  for (const op of ops) {
    if (op >= 0) lines += phrases[op] ?? "";
    else if (op !== END_OF_LINE) {
      const end = at - 1 - op;
      lines += text.slice(at, end);
      at = end;
    } else {
      lines += "\n";
      if (lines.length < chunkLength) continue;
      take(lines);
      lines = "";
    }
  }
  if (lines !== "") take(lines);
}
