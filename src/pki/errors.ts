/**
 * The one error of this folder. Its message is a whole sentence for people: what is wrong with which file, and what to
 * do.
 */
export class PkiError extends Error {
  override readonly name = "PkiError";

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
  }
}
