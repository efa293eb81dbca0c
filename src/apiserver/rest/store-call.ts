/** Calls of the store, whose errors become errors that clients know how to handle. */
import { internalError, StatusError, serviceUnavailable } from "#api";
import { isStoreError } from "#store";

export async function storeCall<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw asStatus(error);
  }
}

export function asStatus(error: unknown): unknown {
  if (!isStoreError(error)) return error;
  if (error.code === "Full") return new StatusError("", error.message, { code: 507, cause: error });
  if (error.code === "Unavailable" || error.code === "Closed") return unavailable(error);
  return internalError(error.message, error);
}

function unavailable(error: Error): StatusError {
  const status = serviceUnavailable(`the store does not answer: ${error.message}`);
  return new StatusError(status.reason, status.message, { cause: error, details: { retryAfterSeconds: 1 } });
}
