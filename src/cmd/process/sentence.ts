/** The message of a failed command: one sentence for an expected failure, the stack for an unexpected one. */
import { ClusterError } from "#cluster";
import { PkiError } from "#pki";
import { isStoreError } from "#store";

export function sentenceFor(error: unknown): string {
  if (error instanceof ClusterError || error instanceof PkiError || isStoreError(error)) return error.message;
  if (error instanceof Error && "syscall" in error) return `${error.message}.`;
  return `unexpected error, please report it: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
