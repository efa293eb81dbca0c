/** What is told of a write that failed. */
import { isStatusError } from "#api";

/** Undefined where nothing is worth telling: a namespace that ends takes the Service with it. */
export function failureText(error: unknown): string | undefined {
  if (isStatusError(error) && error.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating"))
    return undefined;
  return error instanceof Error ? error.message : String(error);
}
