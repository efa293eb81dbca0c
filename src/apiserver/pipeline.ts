/**
 * The request pipeline. Source order is execution order:
 *
 *     recover → request info → authenticate → audit → impersonate → flow control → authorize → dispatch
 *
 * 1. Everything passes all of it, also what comes from a component in the same process.
 * 2. What is known at once is not waited for: most requests are answered in the turn in which they come.
 * 3. It always answers: an error becomes a Status in the form that was asked for. What is refused on the way is an answer for the steps before
 *    it; only what nobody expected reaches them as an error.
 */
import { isStatusError, type Kind, StatusError, serverResponse, toStatus } from "#api";
import type { Logger } from "#base";
import type { Authenticator } from "./authn/authenticator.ts";
import { impersonator } from "./authn/impersonate.ts";
import type { UserInfo } from "./authn/user.ts";
import { RequestAttributes } from "./authz/attributes.ts";
import { type Authorizer, annotate, demand } from "./authz/authorizer.ts";
import { type Dispatch, dispatch, isInScope } from "./dispatch.ts";
import { answerValue } from "./encode/answers.ts";
import { errorFormat } from "./encode/negotiate.ts";
import { type ApiRequest, type ApiResponse, authenticated, isStream } from "./http/exchange.ts";
import { type RequestInfo, RequestInfos } from "./http/request-info.ts";
import { warningHeaders } from "./http/warning-headers.ts";
import { AT, refused, withoutPrefix } from "./past/index.ts";
import type { AnyDraft } from "./rest/prepare.ts";
import type { RequestWitness } from "./rest/server-context.ts";

/** A request on its way: what the steps before it have found out. */
export interface Exchange {
  /** As it came. */
  readonly original: ApiRequest;
  /** As the verbs see it: in the user's name, and without what that was known by. From impersonation on. */
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  /** Who sent it. */
  readonly caller: UserInfo;
  /** In whose name it is answered: the caller's, unless that has impersonated somebody. */
  readonly user: UserInfo;
  /** The verb by which somebody was impersonated, if that was a constrained one. */
  readonly constraint: string;
  /** What those who served it noted for audit, such as admission plugins: complete once there is an answer. */
  readonly annotations: Map<string, string>;
  /** As these, for where the bodies of requests are kept, too: they show what is in them. */
  readonly bodyAnnotations: Map<string, string>;
  /** Go with the answer, whatever that is. */
  readonly headers: Record<string, string>;
  /** Somebody who wants to see what the request brings. */
  observer?: BodyObserver;
  /** What is held for it here. It is released early if another server works on it. */
  held?: { release(): void };
  /** Somebody wants to know how admission decides about it, and what it writes. */
  witness?: RequestWitness;
}

export interface BodyObserver {
  /** The body, where it was read. */
  body?(bytes: Buffer): void;
  /** The object that was in it, before anything has been added: not to be changed, and not to be kept. */
  object(draft: AnyDraft, kind: Kind): void;
}

class PassingExchange implements Exchange {
  readonly original: ApiRequest;
  request: ApiRequest;
  readonly info: RequestInfo;
  readonly caller: UserInfo;
  user: UserInfo;
  constraint = "";
  readonly annotations: Map<string, string>;
  readonly bodyAnnotations = new Map<string, string>();
  readonly headers: Record<string, string> = {};
  observer?: BodyObserver;
  held?: { release(): void };
  witness?: RequestWitness;

  constructor(request: ApiRequest, info: RequestInfo, caller: UserInfo, annotations: Map<string, string>) {
    this.original = request;
    this.request = request;
    this.info = info;
    this.caller = caller;
    this.user = caller;
    this.annotations = annotations;
  }
}

/** A step between authentication and authorization, such as audit or flow control: it may look, wait, refuse, or wrap the answer. */
export type Step = (exchange: Exchange, next: () => Promise<ApiResponse>) => Promise<ApiResponse>;

export interface PipelineOptions {
  readonly authenticate: Authenticator;
  /** Headers that say who somebody is: they go no further than authentication. Default: those that everyone knows. */
  readonly isCredential?: (header: string) => boolean;
  readonly audit: Step;
  /** The answer to those whom authentication has turned away, as audit wants it. */
  readonly turnedAway?: (request: ApiRequest, info: RequestInfo, answer: ApiResponse) => ApiResponse;
  readonly flowControl: Step;
  readonly authorize: Authorizer;
  readonly dispatch: Dispatch;
  /** Paths that are not about resources: health, discovery, version. Undefined: not one of them. */
  nonResource(request: ApiRequest, info: RequestInfo): Promise<ApiResponse | undefined>;
  /** The answer of another API server, for what that one serves. Undefined: the request is for this one. */
  elsewhere?(exchange: Exchange): Promise<ApiResponse> | undefined;
  readonly log: Logger;
}

export const passThrough: Step = (_, next) => next();

export type Handle = (request: ApiRequest) => Promise<ApiResponse>;

export function pipeline(options: PipelineOptions): Handle {
  const { authenticate, audit, flowControl, authorize, log } = options;
  const impersonate = impersonator(authorize);
  const infos = new RequestInfos();

  const answer = async (exchange: PassingExchange, warnings: string[]): Promise<ApiResponse> => {
    const { original, info, caller } = exchange;
    try {
      const asked = new RequestAttributes(caller, info, original.query);
      const impersonating = impersonate(original, asked);
      if (impersonating !== undefined) {
        const { user, constraint } = await impersonating;
        exchange.user = user;
        exchange.constraint = constraint;
      }
      const { user, observer } = exchange;
      const attributes = user === caller ? asked : new RequestAttributes(user, info, original.query);
      const seeBody = observer?.body && ((bytes: Buffer) => observer.body?.(bytes));
      exchange.request = authenticated(original, user, options.isCredential, seeBody);
      return await flowControl(exchange, async () => {
        const deciding = demand(authorize, attributes, (verdict) => annotate(verdict, exchange.annotations));
        if (deciding !== undefined) await deciding;
        return await serve(exchange, options, warnings);
      });
    } catch (error) {
      if (isStatusError(error)) return answerError(error, original, log);
      throw error;
    }
  };

  return async (sent) => {
    const request = withoutPrefix(sent);
    const warnings: string[] = [];
    const info = infos.of(request.method, request.path, request.query);
    const annotations = new Map<string, string>();
    let exchange: PassingExchange | undefined;
    try {
      const found = authenticate(request, {
        warn: (message) => warnings.push(message),
        annotate: (key, value) => annotations.set(key, value),
      });
      const caller = found instanceof Promise ? await found : found;
      const passing = new PassingExchange(request, info, caller, annotations);
      exchange = passing;
      return complete(await audit(passing, () => answer(passing, warnings)), passing.headers, warnings);
    } catch (error) {
      const failure = answerError(error, request, log);
      if (exchange !== undefined) return complete(failure, exchange.headers, warnings);
      return complete(options.turnedAway?.(request, info, failure) ?? failure, {}, warnings);
    }
  };
}

const PAGE_NOT_FOUND: ApiResponse = {
  status: 404,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  body: [Buffer.from("404 page not found\n")],
};

function serve(exchange: Exchange, options: PipelineOptions, warnings: string[]): Promise<ApiResponse> {
  const { request, info, annotations, bodyAnnotations, observer, witness } = exchange;
  const isPast = info.isResourceRequest && request.query.has(AT);
  if (isPast && options.dispatch.resources.find(info.apiGroup, info.apiVersion, info.resource) === undefined)
    throw refused(`${info.resource} are not kept by this server, and have no past here`);
  const elsewhere = isPast ? undefined : options.elsewhere?.(exchange);
  if (elsewhere !== undefined) {
    exchange.held?.release();
    return elsewhere;
  }
  if (!info.isResourceRequest) return serveOther(request, info, options);
  const answer = () =>
    dispatch(request, info, options.dispatch, {
      warn: (message) => warnings.push(message),
      annotate: (key, value, level) => note(level === "Request" ? bodyAnnotations : annotations, key, value),
      received: observer && ((draft, kind) => observer.object(draft, kind)),
      witness,
    });
  return options.dispatch.resources.servesGroup(info.apiGroup) ? answer() : serveAdded(info, options.dispatch, answer);
}

async function serveOther(request: ApiRequest, info: RequestInfo, options: PipelineOptions): Promise<ApiResponse> {
  const response = await options.nonResource(request, info);
  if (response === undefined && info.apiVersion !== "" && options.dispatch.resources.servesGroup(info.apiGroup))
    throw serverResponse(404);
  return response ?? PAGE_NOT_FOUND;
}

/** A group that is no part of the server has only the paths of its kinds, and nothing that answers for others. */
async function serveAdded(
  info: RequestInfo,
  { resources, appearing }: Dispatch,
  answer: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const find = () => resources.find(info.apiGroup, info.apiVersion, info.resource);
  if (find() === undefined) await appearing?.(info.apiGroup, info.resource);
  const found = find();
  return found === undefined || !isInScope(found, info) ? PAGE_NOT_FOUND : answer();
}

/** What has been noted stays. */
function note(annotations: Map<string, string>, key: string, value: string): void {
  if (!annotations.has(key)) annotations.set(key, value);
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
function complete(
  response: ApiResponse,
  headers: Readonly<Record<string, string>>,
  warnings: readonly string[],
): ApiResponse {
  const warning = warnings.length > 0 && { warning: warningHeaders(warnings) };
  const all = { ...response.headers, ...headers, ...warning };
  if (!isStream(response) && response.withHeaders !== undefined) return response.withHeaders(all);
  return { ...response, headers: all };
}
