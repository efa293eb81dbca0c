/** The one error that stores throw. Callers act on `code`; the message is for people. */

export type StoreErrorCode =
  /** The backend does not answer; the same call may succeed later. */
  | "Unavailable"
  /** The revision asked for has been compacted. */
  | "Compacted"
  /** The revision asked for does not exist yet. */
  | "FutureRevision"
  /** No space is left; reads still work. */
  | "Full"
  /** The data on disk is damaged. */
  | "Corrupt"
  /** The data on disk was written by a newer version. */
  | "NewerFormat"
  /** Another process has the data open. */
  | "Locked"
  | "Closed";

export interface StoreErrorDetails {
  readonly cause?: unknown;
  /** Writes only: the write may have been applied although it was not acknowledged. */
  readonly maybeApplied?: boolean;
  /** Compacted only: the oldest revision that can still be read. */
  readonly compactRevision?: number;
}

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;
  readonly maybeApplied: boolean;
  readonly compactRevision: number | undefined;

  constructor(code: StoreErrorCode, message: string, details: StoreErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.maybeApplied = details.maybeApplied ?? false;
    this.compactRevision = details.compactRevision;
  }
}

export function isStoreError(error: unknown, code?: StoreErrorCode): error is StoreError {
  return error instanceof StoreError && (code === undefined || error.code === code);
}
