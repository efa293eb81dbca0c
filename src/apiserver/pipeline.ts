/**
 * The request pipeline. Source order is execution order:
 *
 *     recover → request info → authenticate → impersonate → audit → flow control → authorize → dispatch
 *
 * 1. Everything passes all of it, also what comes from a component in the same process.
 * 2. It always answers: an error becomes a Status in the form that was asked for.
 */
import { isStatusError, StatusError, serverResponse, toStatus } from "#api";
import type { Logger } from "#base";
import type { Authenticator } from "./authn/authenticator.ts";
import { impersonator } from "./authn/impersonate.ts";
import type { UserInfo } from "./authn/user.ts";
import { RequestAttributes } from "./authz/attributes.ts";
import { type Authorizer, auditAnnotations, demand } from "./authz/authorizer.ts";
import { type Dispatch, dispatch, isInScope } from "./dispatch.ts";
import { answerValue } from "./encode/answers.ts";
import { errorFormat } from "./encode/negotiate.ts";
import { type ApiRequest, type ApiResponse, authenticated } from "./http/exchange.ts";
import { type RequestInfo, requestInfo } from "./http/request-info.ts";

/** A request on its way: what the steps before it have found out. */
export interface Exchange {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  readonly user: UserInfo;
  /** What those who served it noted for audit, such as admission plugins: complete once there is an answer. */
  readonly annotations: Map<string, string>;
}

/** A step between authentication and authorization, such as audit or flow control: it may look, wait, refuse, or wrap the answer. */
export type Step = (exchange: Exchange, next: () => Promise<ApiResponse>) => Promise<ApiResponse>;

export interface PipelineOptions {
  readonly authenticate: Authenticator;
  /** Headers that say who somebody is: they go no further than authentication. Default: those that everyone knows. */
  readonly isCredential?: (header: string) => boolean;
  readonly audit: Step;
  readonly flowControl: Step;
  readonly authorize: Authorizer;
  readonly dispatch: Dispatch;
  /** Paths that are not about resources: health, discovery, version. Undefined: not one of them. */
  nonResource(request: ApiRequest, info: RequestInfo): Promise<ApiResponse | undefined>;
  readonly log: Logger;
}

export const passThrough: Step = (_, next) => next();

export type Handle = (request: ApiRequest) => Promise<ApiResponse>;

export function pipeline(options: PipelineOptions): Handle {
  const { authenticate, audit, flowControl, authorize } = options;
  const impersonate = impersonator(authorize);
  return async (request) => {
    const warnings: string[] = [];
    const info = requestInfo(request.method, request.path, request.query);
    try {
      const annotations = new Map<string, string>();
      const caller = await authenticate(request, {
        warn: (message) => warnings.push(message),
        annotate: (key, value) => annotations.set(key, value),
      });
      const asked = new RequestAttributes(caller, info, request.query);
      const { user = caller } = (await impersonate(request, asked)) ?? {};
      const attributes = user === caller ? asked : new RequestAttributes(user, info, request.query);
      const exchange: Exchange = {
        request: authenticated(request, user, options.isCredential),
        info,
        user,
        annotations,
      };
      const response = await audit(exchange, () =>
        flowControl(exchange, async () => {
          await demand(authorize, attributes, (verdict) => {
            for (const [key, value] of auditAnnotations(verdict)) exchange.annotations.set(key, value);
          });
          return serve(exchange, options, warnings);
        }),
      );
      return withWarnings(response, warnings);
    } catch (error) {
      return withWarnings(answerError(error, request, options.log), warnings);
    }
  };
}

const PAGE_NOT_FOUND: ApiResponse = {
  status: 404,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  body: [Buffer.from("404 page not found\n")],
};

async function serve(
  { request, info, annotations }: Exchange,
  options: PipelineOptions,
  warnings: string[],
): Promise<ApiResponse> {
  if (!info.isResourceRequest) {
    const response = await options.nonResource(request, info);
    if (response === undefined && info.apiVersion !== "" && options.dispatch.resources.servesGroup(info.apiGroup))
      throw serverResponse(404);
    return response ?? PAGE_NOT_FOUND;
  }
  const { resources } = options.dispatch;
  const found = resources.find(info.apiGroup, info.apiVersion, info.resource);
  // A group that is no part of the server has only the paths of its kinds, and nothing that answers for others.
  if (!resources.servesGroup(info.apiGroup) && (found === undefined || !isInScope(found, info))) return PAGE_NOT_FOUND;
  return dispatch(
    request,
    info,
    options.dispatch,
    (message) => warnings.push(message),
    (key, value) => annotations.set(key, value),
  );
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

function withWarnings(response: ApiResponse, warnings: readonly string[]): ApiResponse {
  if (warnings.length === 0) return response;
  const lines = [...new Set(warnings)].map((warning) => `299 - ${JSON.stringify(warning)}`);
  return { ...response, headers: { ...response.headers, warning: lines } };
}
