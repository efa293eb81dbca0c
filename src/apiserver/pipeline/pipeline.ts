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
import type { ImpersonationMetrics } from "../impersonation/impersonation-metrics.ts";
import { type AuditUnauthenticated, authenticate } from "./authenticate.ts";
import { authorize } from "./authorize.ts";
import { allowOrigins, strictTransport } from "./browser-headers.ts";
import { compose, type Next, passThrough, type Step } from "./compose.ts";
import type { Deadlines } from "./deadlines.ts";
import {
  type Arrived,
  type Attributed,
  type Authenticated,
  type Authorized,
  type Received,
  RequestExchange,
} from "./exchange.ts";
import { impersonate } from "./impersonate.ts";
import { answerRefusals, recover } from "./recover.ts";
import { requestInfo } from "./request-info.ts";
import { LOGGED_FROM, logRequests } from "./request-log.ts";
import { type ServeOptions, serve } from "./serve.ts";
import { checkTimeout, limitTime } from "./timeout.ts";

/** Defaults: no other origins, no Strict-Transport-Security. */
export interface BrowserSettings {
  readonly allowedOrigins?: readonly string[] | undefined;
  readonly strictTransport?: readonly string[] | undefined;
}

/** Around what authenticated requests pass, and around their verbs. */
export interface Tracing {
  readonly requests: Step<Authenticated>;
  readonly verbs: (serve: Next<Authorized>) => Next<Authorized>;
}

export interface PipelineOptions extends ServeOptions {
  readonly authenticate: Authenticator;
  /** Headers that go no further than authentication. Default: those that Kubernetes defines. */
  readonly isCredential?: ((header: string) => boolean) | undefined;
  readonly count: Step<Authenticated>;
  /** Default: requests are not traced. */
  readonly trace?: Tracing | undefined;
  readonly audit: Step<Authenticated>;
  /** Default: requests that are not authenticated are not audited. */
  readonly turnedAway?: AuditUnauthenticated | undefined;
  readonly fairness: Step<Attributed>;
  readonly authorize: Authorizer;
  /** For the duration of requests in the log. Default: requests are not logged. */
  readonly clock?: Clock | undefined;
  /** Turns requests away while the server shuts down. Default: everything passes. */
  readonly gate?: Step<Received> | undefined;
  /** Absent: impersonations are not measured. */
  readonly impersonations?: ImpersonationMetrics | undefined;
  readonly browsers?: BrowserSettings | undefined;
  readonly deadlines: Deadlines;
  /** How long a request may take, unless it is long-running. Default: a minute. */
  readonly requestTimeoutMs?: number | undefined;
  readonly log: Logger;
}

export function pipeline(options: PipelineOptions): Handle {
  const { log, clock, gate = passThrough, browsers } = options;
  const cbor = options.dispatch.context.features.enabled("CBORServingAndStorage");
  const answer = compose<Arrived>()
    .step(recover(log, cbor))
    .step(strictTransport(browsers?.strictTransport))
    .step(requestInfo())
    .step(gate)
    .step(checkTimeout())
    .step(allowOrigins(browsers?.allowedOrigins))
    .step(authenticate(options.authenticate, log, options.turnedAway))
    .step(traced(options))
    .step(options.audit)
    .step(answerRefusals(log, cbor))
    .step(limitTime(options.deadlines, options.requestTimeoutMs))
    .step(impersonate(options.authorize, options.isCredential, options.impersonations))
    .step(options.fairness)
    .step(authorize(options.authorize))
    .end(options.trace === undefined ? serve(options) : options.trace.verbs(serve(options)));
  const requests = log.child({ component: "httplog" });
  if (clock !== undefined && requests.enabled(LOGGED_FROM)) return logRequests(answer, clock, requests);
  return (request) => answer(new RequestExchange(request));
}

/** One step, so that requests of a server without traces pass no other. */
function traced({ count, trace }: PipelineOptions): Step<Authenticated> {
  if (trace === undefined) return count;
  return (exchange, next) => trace.requests(exchange, (each) => count(each, next));
}
