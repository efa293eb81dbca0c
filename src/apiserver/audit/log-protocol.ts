/** What the thread that serves requests and the one that writes the audit log tell each other. */
import { momentText } from "./phrase.ts";
import type { RotationLimits } from "./rotating-file.ts";

export interface LogWorkerData {
  readonly path: string;
  readonly limits: RotationLimits;
}

/**
 * Lines, piece by piece: the number of a phrase, a part of the text, or a time.
 * Phrases that are new are told along, and get the numbers that follow.
 */
export interface BatchMessage {
  readonly events: number;
  readonly ops: Int32Array;
  /** One text, in parts. */
  readonly texts: readonly string[];
  readonly phrases: readonly string[];
  /** What times count from. */
  readonly sinceMs: number;
}

/** `forget`: the next phrase is number 0. `close`: there will be no more. */
export type LogMessage = BatchMessage | "forget" | "close";

/** One for each batch, in order. */
export interface LogReply {
  readonly error?: string;
}

export const END_OF_LINE = -1;
/** Two more numbers follow: where it begins in the text, and how long it is. */
export const TEXT = -2;
/** One more follows: so many milliseconds. */
export const TIME = -3;

/** Calls with lines, some at a time, each with its end. */
export function readLines(
  { ops, texts, sinceMs }: BatchMessage,
  phrases: readonly string[],
  chunkLength: number,
  take: (lines: string) => void,
): void {
  const text = texts.join("");
  const moment = { ms: Number.NaN, text: "" };
  let lines = "";
  for (let i = 0; i < ops.length; i++) {
    const op = ops[i] ?? END_OF_LINE;
    if (op >= 0) lines += phrases[op] ?? "";
    else if (op === TEXT) {
      const at = ops[++i] ?? 0;
      lines += text.slice(at, at + (ops[++i] ?? 0));
    } else if (op === TIME) {
      const ms = sinceMs + (ops[++i] ?? 0);
      if (ms !== moment.ms) {
        moment.ms = ms;
        moment.text = momentText(ms);
      }
      lines += moment.text;
    } else {
      lines += "\n";
      if (lines.length < chunkLength) continue;
      take(lines);
      lines = "";
    }
  }
  if (lines !== "") take(lines);
}
