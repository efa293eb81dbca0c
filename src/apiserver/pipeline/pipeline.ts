/**
 * The request pipeline. Source order is execution order:
 *
 *     recover → request info → authenticate → count → audit → impersonate → fairness → authorize → dispatch
 *
 * 1. Everything passes all of it, also what comes from a component in the same process.
 * 2. What is known at once is not waited for: most requests are answered in the call in which they come, without a promise on the way.
 * 3. It always answers: an error becomes a Status in the form that was asked for. What is refused on the way is an answer for the steps before
 *    it; only what nobody expected reaches them as an error.
 */
import { isStatusError, StatusError, serverResponse, toStatus } from "#api";
import type { Logger } from "#base";
import type { Authenticator } from "../authn/authenticator.ts";
import { type Attributes, RequestAttributes } from "../authz/attributes.ts";
import { type Authorizer, demandAllowed } from "../authz/authorizer.ts";
import type { Verdict } from "../authz/verdict.ts";
import { answerValue } from "../encode/answers.ts";
import { errorFormat } from "../encode/negotiate.ts";
import {
  type Answering,
  type ApiRequest,
  type ApiResponse,
  authenticated,
  type Handle,
  isStream,
} from "../http/exchange.ts";
import { type RequestInfo, RequestInfos } from "../http/request-info.ts";
import { warningHeaders } from "../http/warning-headers.ts";
import type { UserInfo } from "../identity/user.ts";
import { impersonator } from "../impersonation/impersonate.ts";
import type { Impersonated } from "../impersonation/impersonation-modes.ts";
import { AT, refused as refusedPast, withoutPrefix } from "../past/index.ts";
import { type Dispatch, dispatch, isInScope, type Remarks } from "./dispatch.ts";
import { type Exchange, type Next, PassingExchange, passThrough, type Step } from "./exchange.ts";

export interface PipelineOptions {
  readonly authenticate: Authenticator;
  /** Headers that say who somebody is: they go no further than authentication. Default: those that everyone knows. */
  readonly isCredential?: (header: string) => boolean;
  /** Sees every request whose sender is known. Default: nobody does. */
  readonly count?: Step;
  readonly audit: Step;
  /** The answer to those whom authentication has turned away, as audit wants it. */
  readonly turnedAway?: (request: ApiRequest, info: RequestInfo, answer: ApiResponse) => ApiResponse;
  readonly fairness: Step;
  readonly authorize: Authorizer;
  readonly dispatch: Dispatch;
  /** Paths that are not about resources: health, discovery, version. Undefined: not one of them. */
  nonResource(request: ApiRequest, info: RequestInfo): Promise<ApiResponse | undefined>;
  /** The answer of another API server, for what that one serves. Undefined: the request is for this one. */
  elsewhere?(exchange: Exchange): Promise<ApiResponse> | undefined;
  readonly log: Logger;
}

export function pipeline(options: PipelineOptions): Handle {
  const { authenticate, count = passThrough, audit, fairness, authorize, log } = options;
  const impersonate = impersonator(authorize);
  const infos = new RequestInfos();

  const authorized: Next = (exchange) => {
    const verdict = authorize(exchange.attributes ?? attributesOf(exchange));
    return verdict instanceof Promise
      ? verdict.then((late) => decided(exchange, late, options))
      : decided(exchange, verdict, options);
  };

  const inUsersName = (exchange: Exchange): Answering => {
    const { original, user, caller, observer } = exchange;
    if (user !== caller) exchange.attributes = attributesOf(exchange);
    const seeBody = observer?.body && ((bytes: Buffer) => observer.body?.(bytes));
    exchange.request = authenticated(original, user, options.isCredential, seeBody);
    return fairness(exchange, authorized);
  };

  const impersonated = async (exchange: Exchange, who: Promise<Impersonated>): Promise<ApiResponse> => {
    const { user, constraint } = await who;
    exchange.readMs = undefined;
    exchange.user = user;
    exchange.constraint = constraint;
    return inUsersName(exchange);
  };

  const refused = (exchange: Exchange, error: unknown): ApiResponse => {
    if (isStatusError(error)) return answerError(error, exchange.original, log);
    throw error;
  };

  const answered: Next = (exchange) => {
    try {
      const asked = attributesOf(exchange);
      exchange.attributes = asked;
      const who = impersonate(exchange.original, asked);
      const answering = who === undefined ? inUsersName(exchange) : impersonated(exchange, who);
      if (answering instanceof Promise) return answering.catch((error: unknown) => refused(exchange, error));
      return answering;
    } catch (error) {
      return refused(exchange, error);
    }
  };

  const audited: Next = (exchange) => audit(exchange, answered);

  const failed = (exchange: PassingExchange, error: unknown): ApiResponse =>
    complete(answerError(error, exchange.original, log), exchange);

  const completed = async (exchange: PassingExchange, answering: Promise<ApiResponse>): Promise<ApiResponse> => {
    try {
      return complete(await answering, exchange);
    } catch (error) {
      return failed(exchange, error);
    }
  };

  const known = (exchange: PassingExchange, caller: UserInfo): Answering => {
    exchange.caller = exchange.user = caller;
    try {
      const answering = count(exchange, audited);
      return answering instanceof Promise ? completed(exchange, answering) : complete(answering, exchange);
    } catch (error) {
      return failed(exchange, error);
    }
  };

  const turnedAway = (exchange: PassingExchange, error: unknown): ApiResponse => {
    const { original, info } = exchange;
    const answer = answerError(error, original, log);
    return complete(options.turnedAway?.(original, info, answer) ?? answer, exchange);
  };

  return (sent) => {
    const request = withoutPrefix(sent);
    const exchange = new PassingExchange(request, infos.of(request.method, request.path, request.query));
    let caller: UserInfo | Promise<UserInfo>;
    try {
      caller = authenticate(request, exchange);
    } catch (error) {
      return turnedAway(exchange, error);
    }
    if (!(caller instanceof Promise)) return known(exchange, caller);
    return caller.then(
      (late) => known(exchange, late),
      (error: unknown) => turnedAway(exchange, error),
    );
  };
}

function attributesOf({ user, info, original }: Exchange): Attributes {
  return new RequestAttributes(user, info, original.query);
}

function decided(exchange: Exchange, verdict: Verdict, options: PipelineOptions): Answering {
  exchange.verdict = verdict;
  demandAllowed(exchange.attributes ?? attributesOf(exchange), verdict);
  return serve(exchange, options);
}

const PAGE_NOT_FOUND: ApiResponse = {
  status: 404,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  body: [Buffer.from("404 page not found\n")],
};

function serve(exchange: Exchange, options: PipelineOptions): Answering {
  const { request, info, observer, witness } = exchange;
  const isPast = info.isResourceRequest && request.query.has(AT);
  if (isPast && options.dispatch.resources.find(info.apiGroup, info.apiVersion, info.resource) === undefined)
    throw refusedPast(`${info.resource} are not kept by this server, and have no past here`);
  const elsewhere = isPast ? undefined : options.elsewhere?.(exchange);
  if (elsewhere !== undefined) {
    exchange.isElsewhere = true;
    exchange.held?.release();
    return elsewhere;
  }
  if (!info.isResourceRequest) return serveOther(request, info, options);
  const remarks: Remarks = {
    warn: (message) => exchange.warn(message),
    annotate: (key, value, level) => exchange.annotate(key, value, level),
    received: observer && ((draft, kind) => observer.object(draft, kind)),
    witness,
  };
  return options.dispatch.resources.servesGroup(info.apiGroup)
    ? dispatch(request, info, options.dispatch, remarks)
    : serveAdded(request, info, options.dispatch, remarks);
}

async function serveOther(request: ApiRequest, info: RequestInfo, options: PipelineOptions): Promise<ApiResponse> {
  const response = await options.nonResource(request, info);
  if (response === undefined && info.apiVersion !== "" && options.dispatch.resources.servesGroup(info.apiGroup))
    throw serverResponse(404);
  return response ?? PAGE_NOT_FOUND;
}

/** A group that is no part of the server has only the paths of its kinds, and nothing that answers for others. */
async function serveAdded(
  request: ApiRequest,
  info: RequestInfo,
  server: Dispatch,
  remarks: Remarks,
): Promise<ApiResponse> {
  const find = () => server.resources.find(info.apiGroup, info.apiVersion, info.resource);
  if (find() === undefined) await server.appearing?.(info.apiGroup, info.resource);
  const found = find();
  return found === undefined || !isInScope(found, info) ? PAGE_NOT_FOUND : dispatch(request, info, server, remarks);
}

export function answerError(
  error: unknown,
  { headers, method, path }: Pick<ApiRequest, "headers" | "method" | "path">,
  log: Logger,
): ApiResponse {
  if (!isStatusError(error) || error.code === 500) log.error("request failed", { method, path, error });
  const status = isStatusError(error)
    ? error
    : new StatusError("InternalError", "an error on the server has prevented the request from succeeding", {
        cause: error,
      });
  const body = toStatus(status);
  const shown = "continueToken" in status ? { ...body, metadata: { continue: status.continueToken } } : body;
  const response = answerValue(status.code, shown, undefined, { type: errorFormat(headers.accept), pretty: false });
  const retryAfter = status.details?.retryAfterSeconds;
  return retryAfter === undefined
    ? response
    : { ...response, headers: { ...response.headers, "retry-after": String(retryAfter) } };
}

/** With what goes along with it. */
function complete(response: ApiResponse, { headers, shared, warnings }: PassingExchange): ApiResponse {
  const warning = warnings !== undefined && { warning: warningHeaders(warnings) };
  // Its own headers say what its body is, and nothing else: what there is more of is copied first, which costs the least.
  if (!isStream(response) && response.withHeaders !== undefined)
    return response.withHeaders({ ...headers, ...response.headers, ...warning }, shared);
  return { ...response, headers: { ...response.headers, ...headers, ...shared?.fields, ...warning } };
}
