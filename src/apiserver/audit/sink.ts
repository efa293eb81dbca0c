/** Where events go. */
import { type AuditEvent, byteLength } from "./event.ts";

export const MODES = ["batch", "blocking", "blocking-strict"] as const;
/** Whether requests wait for their events: never, before they are answered, or before they are served. */
export type Mode = (typeof MODES)[number];

export interface Sink {
  readonly mode: Mode;
  /** Events arrive in the order in which they were pushed. */
  push(event: AuditEvent): void;
  /** Resolves when all events so far are delivered; to false if one was not. */
  written(): Promise<boolean>;
  /** Delivers pending events as far as possible. */
  close(): Promise<void>;
}

export interface Truncation {
  readonly maxEventBytes: number;
  readonly maxBatchBytes: number;
}

export const DEFAULT_TRUNCATION: Truncation = { maxEventBytes: 100 * 1024, maxBatchBytes: 10 * 1024 * 1024 };

/** The event, without its objects if it is too large with them; undefined if it is too large anyway. */
export function fitting(event: AuditEvent, truncation: Truncation | undefined): AuditEvent | undefined {
  if (truncation === undefined || byteLength(event) <= truncation.maxEventBytes) return event;
  const less = event.truncated();
  return less !== undefined && byteLength(less) <= truncation.maxEventBytes ? less : undefined;
}

/** An event of another thread: a line, which was fitted there. This thread writes it to the log that both share. */
export function givenLine(line: Buffer): AuditEvent {
  // As text: a receiver may join it with other texts.
  return { writeTo: (receiver) => receiver.piece(line.toString("utf8")), truncated: () => undefined };
}
