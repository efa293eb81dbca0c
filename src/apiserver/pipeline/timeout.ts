/** Refuses requests whose `timeout` is no duration. Long-running ones have other timeouts. */
import { badRequest, DurationError, parseDuration } from "#api";
import { isLongRunning } from "../http/long-running.ts";
import type { Step } from "./compose.ts";
import type { Received } from "./exchange.ts";

export function checkTimeout(): Step<Received> {
  return (exchange, next) => {
    const { query } = exchange.original;
    const text = query.size === 0 ? null : query.get("timeout");
    if (text !== null && text !== "" && !isLongRunning(exchange.info)) check(text);
    return next(exchange);
  };
}

function check(text: string): void {
  try {
    parseDuration(text);
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    throw badRequest(`invalid timeout specified in the request URL - ${error.message}`);
  }
}
