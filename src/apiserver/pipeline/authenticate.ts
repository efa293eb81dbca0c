/**
 * Who sends a request. One whose credentials are refused is answered here, and audited apart: nothing is known of its
 * sender.
 */
import { type Logger, settle } from "#base";
import type { Authenticator } from "../authn/authenticator.ts";
import type { ApiRequest, ApiResponse } from "../http/exchange.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { Step } from "./compose.ts";
import type { Authenticated, Received } from "./exchange.ts";
import { answerError } from "./recover.ts";

/** Audits the answer to a request that was not authenticated, and returns it with the audit's headers. */
export type AuditUnauthenticated = (request: ApiRequest, info: RequestInfo, answer: ApiResponse) => ApiResponse;

export function authenticate(
  authenticator: Authenticator,
  log: Logger,
  turnedAway: AuditUnauthenticated = (_request, _info, answer) => answer,
): Step<Received, Authenticated> {
  return (exchange, next) =>
    settle(
      () => authenticator(exchange.original, exchange),
      (caller) => next(exchange.authenticated(caller)),
      (error) => turnedAway(exchange.original, exchange.info, answerError(error, exchange.original, log)),
    );
}
