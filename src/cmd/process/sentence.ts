/** What a user reads when a command fails: the sentence of an expected failure, or the whole story of an unexpected one. */
import { ClusterError } from "#cluster";
import { PkiError } from "#pki";
import { isStoreError } from "#store";

export function sentenceFor(error: unknown): string {
  if (error instanceof ClusterError || error instanceof PkiError || isStoreError(error)) return error.message;
  if (error instanceof Error && "syscall" in error) return `${error.message}.`;
  return `an unexpected failure, please report it: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
