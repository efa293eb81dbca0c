/** The message of a failed write. */
import { isStatusError } from "#api";

/** Undefined in a terminating namespace, which takes the Service with it. */
export function failureText(error: unknown): string | undefined {
  if (isStatusError(error) && error.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating"))
    return undefined;
  return error instanceof Error ? error.message : String(error);
}
