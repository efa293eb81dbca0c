/** What the thread that serves requests and the one that writes the audit log tell each other. */
import type { RotationLimits } from "./rotating-file.ts";

export interface LogWorkerData {
  readonly path: string;
  readonly limits: RotationLimits;
}

/**
 * Memory that both threads see. It is the other one's until that has answered, and then serves for the next batch: new memory would have to be found, and
 * cleared, anew. It is not handed over: once a process has done so with any memory, everything in it that works on bytes is slower from then on (ADR 0014).
 */
export interface Memory {
  readonly numbers: Float64Array<SharedArrayBuffer>;
  readonly text: Uint8Array<SharedArrayBuffer>;
}

/** Lines, each as numbers: those of a form that is filled in, or SPELLED. */
export interface BatchMessage extends Memory {
  /** How many of the numbers count. */
  readonly length: number;
  /** Those that are spelled out, in order. */
  readonly lines: readonly string[];
  /** New ones: they get the numbers that follow. */
  readonly forms: readonly (readonly string[])[];
}

/** `forget`: the next form is number 0. `close`: there will be no more. */
export type LogMessage = BatchMessage | "forget" | "close";

/** One for each batch, in order. */
export interface LogReply {
  readonly error?: string;
}

/** The form's number; where the id is in the text, and how long, and the same of the name; two times. The length of a name that the target has, too, is negative. */
export const FILLED_LENGTH = 7;
/** Alone: the next one of the lines. */
export const SPELLED = -1;
