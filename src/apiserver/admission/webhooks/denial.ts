/** The error of a request that a webhook denies. */
import { isObject, type JsonObject, type StatusDetails, StatusError, type StatusReason } from "#api";

const BAD_REQUEST = 400;

export function denial(webhook: string, result: JsonObject = {}): StatusError {
  const by = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const [message, reason] = [textOf(result.message), textOf(result.reason)];
  const why = message || reason;
  const code = typeof result.code === "number" ? result.code : 0;
  return new StatusError(reason as StatusReason, why === "" ? `${by} without explanation` : `${by}: ${why}`, {
    // A denial is always an error, whatever the webhook's status says.
    code: code < BAD_REQUEST ? BAD_REQUEST : code,
    ...(isObject(result.details) && { details: result.details as StatusDetails }),
  });
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
