/** What the thread that serves requests and the one that writes the audit log tell each other. */
import type { RotationLimits } from "./rotating-file.ts";

export interface LogWorkerData {
  readonly path: string;
  readonly limits: RotationLimits;
}

/** Lines, each as numbers: those of a form that is filled in, or SPELLED. */
export interface BatchMessage {
  readonly numbers: Float64Array;
  /** What fills in forms, in parts: every letter is a byte. */
  readonly texts: readonly string[];
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

/** The form's number; where the id begins in the texts, its length, and that of the target behind it; the same of the name; two times. */
export const FILLED_LENGTH = 8;
/** Alone: the next one of the lines. */
export const SPELLED = -1;
