/** What went wrong with a network, in the words and numbers of the CNI specification. */
export class CniError extends Error {
  override readonly name = "CniError";
  /** Well-known ones are below 100. */
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
