/** The messages between the serving thread and the thread that writes the audit log. */
import type { RotationLimits } from "./rotating-file.ts";

export interface LogWorkerData {
  readonly path: string;
  readonly limits: RotationLimits;
}

/**
 * Events as numbers and bytes. As strings, thousands of events that wait are moved by each collection of garbage: a
 * request and its two lines then take 12 instead of 6.9 µs of both threads (`bench -- audit`, 2026-11-18).
 */
export interface BatchMessage {
  /**
   * For each event WHOLE_LINE, or what `ENTRY_LENGTH` counts: the number of a template, the times of arrival and of the
   * stage, the lengths of id and name, and 1 if the URI has the name as well.
   */
  readonly numbers: Float64Array<ArrayBuffer>;
  /** How many numbers are used. */
  readonly length: number;
  /** Id and name of each event with a template, one after the other. */
  readonly text: Uint8Array<ArrayBuffer>;
  /** The events that are whole lines, in order. */
  readonly lines: readonly string[];
  /** The texts of templates that are new, numbered from where the last ones ended. */
  readonly templates: readonly (readonly string[])[];
}

export const ENTRY_LENGTH = 6;
export const WHOLE_LINE = -1;

/** `forget`: numbers of templates start with 0 again. `close`: no more batches follow. */
export type LogMessage = BatchMessage | "forget" | "close";

/** One for each batch, in order. */
export interface LogReply {
  readonly error?: string;
}
