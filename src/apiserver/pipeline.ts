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
import { impersonate } from "./authn/impersonate.ts";
import type { UserInfo } from "./authn/user.ts";
import { type Authorizer, denied } from "./authz/authorizer.ts";
import { type Dispatch, dispatch } from "./dispatch.ts";
import { answerValue } from "./encode/answers.ts";
import { errorFormat } from "./encode/negotiate.ts";
import { type ApiRequest, type ApiResponse, authenticated } from "./http/exchange.ts";
import { type RequestInfo, requestInfo } from "./http/request-info.ts";

/** A step between authentication and authorization, such as audit or flow control: it may look, wait, refuse, or wrap the answer. */
export type Step = (
  exchange: { readonly request: ApiRequest; readonly info: RequestInfo; readonly user: UserInfo },
  next: () => Promise<ApiResponse>,
) => Promise<ApiResponse>;

export interface PipelineOptions {
  readonly authenticate: Authenticator;
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
  return async (request) => {
    const warnings: string[] = [];
    const info = requestInfo(request.method, request.path, request.query);
    try {
      const user = await impersonate(request, await authenticate(request), authorize);
      const exchange = { request: authenticated(request, user), info, user };
      const response = await audit(exchange, () =>
        flowControl(exchange, async () => {
          if (!(await authorize(user, info))) throw denied(user, info);
          return serve(exchange.request, info, options, warnings);
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
  request: ApiRequest,
  info: RequestInfo,
  options: PipelineOptions,
  warnings: string[],
): Promise<ApiResponse> {
  if (!info.isResourceRequest) {
    const response = await options.nonResource(request, info);
    if (response === undefined && info.apiVersion !== "" && options.dispatch.resources.servesGroup(info.apiGroup))
      throw serverResponse(404);
    return response ?? PAGE_NOT_FOUND;
  }
  if (!options.dispatch.resources.servesGroup(info.apiGroup)) return PAGE_NOT_FOUND;
  return dispatch(request, info, options.dispatch, (message) => warnings.push(message));
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
