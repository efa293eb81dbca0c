/** An error with the codes of the CNI specification. */
export class CniError extends Error {
  override readonly name = "CniError";
  /** Codes below 100 are defined by the specification. */
  readonly code: number;
  readonly details: string;

  constructor(code: number, message: string, { details = "", cause }: { details?: string; cause?: unknown } = {}) {
    super(details === "" ? message : `${message}; ${details}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
  }
}

export const INVALID_CONFIGURATION = 7;
export const FAILED_DECODING = 6;
export const GENERIC = 999;
