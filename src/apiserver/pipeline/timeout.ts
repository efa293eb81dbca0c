/**
 * How long a request may take: `timeout` in its query, up to the server's own limit. Long-running requests have other
 * timeouts.
 *
 * 1. A `timeout` that is no duration is refused before anything else is asked.
 * 2. A request that takes longer is answered 504. It has an answer then, which is counted and audited, and its client
 *    is gone: what waits for the client ends, and nothing of it is stored any more (`isOver`).
 * 3. A request that is answered in the call in which it came costs nothing here: no time is read, no timer is set.
 */
import { badRequest, DurationError, durationMs, StatusError } from "#api";
import { isPending } from "#base";
import { isLongRunning } from "../http/long-running.ts";
import type { Step } from "./compose.ts";
import type { Deadlines } from "./deadlines.ts";
import type { Authenticated, Received } from "./exchange.ts";

export const REQUEST_TIMEOUT_MS = 60_000;
const MUTATING = new Set(["create", "update", "patch", "delete", "deletecollection"]);

export function checkTimeout(): Step<Received> {
  return (exchange, next) => {
    const { query } = exchange.original;
    const text = query.size === 0 ? null : query.get("timeout");
    if (text !== null && text !== "" && !isLongRunning(exchange.info)) exchange.timeoutMs = parse(text);
    return next(exchange);
  };
}

/** `longestMs`: the timeout of requests that name none, or a longer one. */
export function limitTime(deadlines: Deadlines, longestMs = REQUEST_TIMEOUT_MS): Step<Authenticated> {
  return (exchange, next) => {
    const answer = next(exchange);
    if (!isPending(answer) || isLongRunning(exchange.info)) return answer;
    const { timeoutMs: asked = 0 } = exchange;
    return deadlines.limit(answer, asked > 0 && asked < longestMs ? asked : longestMs, () => {
      exchange.isOver = true;
      return timedOut(exchange);
    });
  };
}

/** Verbs that write say it in other words. */
function timedOut({ info: { isResourceRequest, verb } }: Received): StatusError {
  const why =
    isResourceRequest && MUTATING.has(verb)
      ? "request did not complete within requested timeout - context deadline exceeded"
      : "request did not complete within the allotted timeout";
  return new StatusError("Timeout", `Timeout: ${why}`, { details: {} });
}

function parse(text: string): number {
  try {
    return durationMs(text);
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    throw badRequest(`invalid timeout specified in the request URL - ${error.message}`);
  }
}
