/** Where events go. */
import { type AuditEvent, byteLength } from "./event.ts";

export const MODES = ["batch", "blocking", "blocking-strict"] as const;
/** Whether requests wait for their events: not at all, before they are answered, or before anything is done. */
export type Mode = (typeof MODES)[number];

export interface Sink {
  readonly mode: Mode;
  /** Takes an event: it is told now, and not kept. Events of one sink arrive in the order in which it took them. */
  push(event: AuditEvent): void;
  /** Resolves when all that were taken so far are where they belong: to false if one of them is not. */
  written(): Promise<boolean>;
  /** Delivers what it has, as far as that is possible, and takes no more. */
  close(): Promise<void>;
}

export interface Truncation {
  readonly maxEventBytes: number;
  readonly maxBatchBytes: number;
}

export const DEFAULT_TRUNCATION: Truncation = { maxEventBytes: 100 * 1024, maxBatchBytes: 10 * 1024 * 1024 };

/** The event as far as it may be: without its objects if it is too large with them; undefined if it is too large anyway. */
export function fitting(event: AuditEvent, truncation: Truncation | undefined): AuditEvent | undefined {
  if (truncation === undefined || byteLength(event) <= truncation.maxEventBytes) return event;
  const less = event.truncated();
  return less !== undefined && byteLength(less) <= truncation.maxEventBytes ? less : undefined;
}
