/**
 * The request pipeline: `pipeline` below is its order.
 *
 * 1. Every request passes all of it, also those of components in the same process.
 * 2. Nothing waits for what is known: most requests are answered in the call in which they come (see Maybe in #base).
 * 3. It always answers. A refusal is an answer to the steps before it; only an unexpected error reaches them as an
 *    error.
 */
import type { Clock, Logger } from "#base";
import type { Authenticator } from "../authn/authenticator.ts";
import type { Authorizer } from "../authz/authorizer.ts";
import type { Handle } from "../http/exchange.ts";
import { type AuditUnauthenticated, authenticate } from "./authenticate.ts";
import { authorize } from "./authorize.ts";
import { compose, type Step } from "./compose.ts";
import { type Arrived, type Attributed, type Authenticated, RequestExchange } from "./exchange.ts";
import { impersonate } from "./impersonate.ts";
import { answerRefusals, recover } from "./recover.ts";
import { requestInfo } from "./request-info.ts";
import { LOGGED_FROM, logRequests } from "./request-log.ts";
import { type ServeOptions, serve } from "./serve.ts";
import { checkTimeout } from "./timeout.ts";

export interface PipelineOptions extends ServeOptions {
  readonly authenticate: Authenticator;
  /** Headers that go no further than authentication. Default: those that Kubernetes defines. */
  readonly isCredential?: ((header: string) => boolean) | undefined;
  readonly count: Step<Authenticated>;
  readonly audit: Step<Authenticated>;
  /** Default: requests that are not authenticated are not audited. */
  readonly turnedAway?: AuditUnauthenticated | undefined;
  readonly fairness: Step<Attributed>;
  readonly authorize: Authorizer;
  /** For the duration of requests in the log. Default: requests are not logged. */
  readonly clock?: Clock | undefined;
  readonly log: Logger;
}

export function pipeline(options: PipelineOptions): Handle {
  const { log, clock } = options;
  const answer = compose<Arrived>()
    .step(recover(log))
    .step(requestInfo())
    .step(checkTimeout())
    .step(authenticate(options.authenticate, log, options.turnedAway))
    .step(options.count)
    .step(options.audit)
    .step(answerRefusals(log))
    .step(impersonate(options.authorize, options.isCredential))
    .step(options.fairness)
    .step(authorize(options.authorize))
    .end(serve(options));
  const requests = log.child({ component: "httplog" });
  if (clock !== undefined && requests.enabled(LOGGED_FROM)) return logRequests(answer, clock, requests);
  return (request) => answer(new RequestExchange(request));
}
