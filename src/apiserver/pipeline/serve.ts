/**
 * Where an authorized request goes:
 *
 *     another API server (aggregation) · a path that is not about a resource · a kind of the server · a custom resource
 */
import { serverResponse } from "#api";
import type { Answering, ApiRequest, ApiResponse } from "../http/exchange.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { AT, refused } from "../past/index.ts";
import type { Next } from "./compose.ts";
import { type Dispatch, dispatch, isInScope, type Remarks } from "./dispatch.ts";
import type { Authorized } from "./exchange.ts";

export interface ServeOptions {
  readonly dispatch: Dispatch;
  /** Paths that are not about resources: health, discovery, version. Undefined: not one of them. */
  nonResource(request: ApiRequest, info: RequestInfo): Promise<ApiResponse | undefined>;
  /** The answer of another API server, for what that one serves. Undefined: the request is for this one. */
  readonly elsewhere?: ((exchange: Authorized) => Promise<ApiResponse> | undefined) | undefined;
}

const PAGE_NOT_FOUND: ApiResponse = {
  status: 404,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  body: [Buffer.from("404 page not found\n")],
};

export function serve(options: ServeOptions): Next<Authorized> {
  const { dispatch: server } = options;
  return (exchange) => {
    const { request, info } = exchange;
    const isPast = info.isResourceRequest && request.query.has(AT);
    if (isPast && server.resources.find(info.apiGroup, info.apiVersion, info.resource) === undefined)
      throw refused(`${info.resource} are not kept by this server, and have no past here`);
    const elsewhere = isPast ? undefined : options.elsewhere?.(exchange);
    if (elsewhere !== undefined) {
      exchange.held?.release();
      return elsewhere;
    }
    if (!info.isResourceRequest) return serveNonResource(request, info, options);
    return serveResource(exchange, server);
  };
}

function serveResource(exchange: Authorized, server: Dispatch): Answering {
  const { request, info, observer, witness } = exchange;
  const remarks: Remarks = {
    warn: (message) => exchange.warn(message),
    annotate: (key, value, level) => exchange.annotate(key, value, level),
    received: observer && ((draft, kind) => observer.object(draft, kind)),
    witness,
    life: exchange,
  };
  return server.resources.servesGroup(info.apiGroup)
    ? dispatch(request, info, server, remarks)
    : serveCustom(request, info, server, remarks);
}

async function serveNonResource(request: ApiRequest, info: RequestInfo, options: ServeOptions): Promise<ApiResponse> {
  const response = await options.nonResource(request, info);
  if (response === undefined && info.apiVersion !== "" && options.dispatch.resources.servesGroup(info.apiGroup))
    throw serverResponse(404);
  return response ?? PAGE_NOT_FOUND;
}

/** A group of custom resources has only the paths of its kinds: everything else is no page. */
async function serveCustom(
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
