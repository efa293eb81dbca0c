/** Every request is answered: an error becomes a Status in the format that the caller accepts. */
import { badRequest, isStatusError, StatusError, toStatus } from "#api";
import { attempt, type Logger, settle } from "#base";
import { answerValue } from "../encode/answers.ts";
import { errorFormat } from "../encode/negotiate.ts";
import { type ApiRequest, type ApiResponse, isStream } from "../http/exchange.ts";
import { warningHeaders } from "../http/warning-headers.ts";
import type { Step } from "./compose.ts";
import type { Arrived, Authenticated } from "./exchange.ts";

/**
 * The first step: adds the headers that the others have collected to the answer, or to the Status of an error that none
 * expected.
 */
export function recover(log: Logger, cbor = false): Step<Arrived> {
  return (exchange, next) =>
    settle(
      () => next(exchange),
      (response) => complete(response, exchange),
      (error) => complete(answerError(error, exchange.original, log, exchange, cbor), exchange),
    );
}

/** A request that is refused has an answer, which the steps before this one count and audit. Unexpected errors pass. */
export function answerRefusals(log: Logger, cbor = false): Step<Authenticated> {
  return (exchange, next) =>
    attempt(
      () => next(exchange),
      (error) => {
        if (isStatusError(error)) return answerError(error, exchange.original, log, exchange, cbor);
        throw error;
      },
    );
}

export function answerError(
  error: unknown,
  { headers, method, path }: Pick<ApiRequest, "headers" | "method" | "path">,
  log: Logger,
  exchange?: Arrived,
  cbor = false,
): ApiResponse {
  const facts = { method, path, "audit-ID": exchange?.headers["audit-id"] };
  // Another server does not answer, such as a kubelet that restarts: its stack says nothing.
  if (isStatusError(error) && error.code === 500 && error.reason === "")
    log.warn("request failed", { ...facts, why: error.message });
  else if (!isStatusError(error) || error.code === 500) log.error("request failed", { ...facts, error });
  const status = isStatusError(error)
    ? error
    : isTooDeep(error)
      ? badRequest("invalid character '{' exceeded max depth")
      : new StatusError("InternalError", "an error on the server has prevented the request from succeeding", {
          cause: error,
        });
  const body = toStatus(status);
  const shown = "continueToken" in status ? { ...body, metadata: { continue: status.continueToken } } : body;
  const format = { type: errorFormat(headers.accept, cbor), pretty: false };
  const response = answerValue(status.code, shown, undefined, format);
  const retryAfter = status.details?.retryAfterSeconds;
  return retryAfter === undefined
    ? response
    : { ...response, headers: { ...response.headers, "retry-after": String(retryAfter) } };
}

/** Patches may nest an object step by step, until there is no stack for it. */
function isTooDeep(error: unknown): boolean {
  return error instanceof RangeError && error.message.startsWith("Maximum call stack");
}

function complete(response: ApiResponse, { headers, warnings }: Arrived): ApiResponse {
  const warning = warnings !== undefined && { warning: warningHeaders(warnings) };
  // Its own headers say what its body is, and nothing else. The larger set is copied first, which costs the least.
  if (!isStream(response) && response.withHeaders !== undefined)
    return response.withHeaders({ ...headers, ...response.headers, ...warning });
  return { ...response, headers: { ...response.headers, ...headers, ...warning } };
}
