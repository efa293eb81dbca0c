/**
 * Spans of requests, with the names and attributes of kube-apiserver: `POST /api/v1/namespaces/{:namespace}/pods`, and
 * below it `Create`.
 *
 * 1. A request that is not sampled has no span, and costs the decision.
 * 2. The span of a stream ends with the stream.
 */
import { type Maybe, settle, table } from "#base";
import { CAUSE_SPAN_HEADER, causeSpanHeader, SERVER, type Span, type Tracer } from "#tracing";
import { type ApiResponse, isStream } from "../http/exchange.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { Next, Step } from "../pipeline/compose.ts";
import type { Authenticated, Authorized } from "../pipeline/exchange.ts";
import { parentageOf } from "./parentage.ts";

/** Those that kube-apiserver has spans for. */
const VERBS: Readonly<Record<string, string>> = table({
  get: "Get",
  list: "List",
  create: "Create",
  update: "Update",
  patch: "Patch",
  delete: "Delete",
  deletecollection: "Delete",
});
const AUDIT_ID = "audit-id";

/** Around everything that an authenticated request passes. */
export function traceRequests(tracer: Tracer): Step<Authenticated> {
  return (exchange, next) => {
    const span = begin(exchange, tracer);
    if (span === undefined) return next(exchange);
    exchange.span = span;
    const run = () => tracer.run(span, () => next(exchange));
    return settle(
      run,
      (response) => answered(exchange, span, response),
      (error) => failed(span, error),
    );
  };
}

function begin(exchange: Authenticated, tracer: Tracer): Span | undefined {
  const { info, original, caller, headers } = exchange;
  const { parent, link, tell } = parentageOf(exchange, tracer.revisions);
  if (tell !== undefined) headers[CAUSE_SPAN_HEADER] = causeSpanHeader(tell);
  return tracer.root(nameOf(info, original.method), parent, {
    kind: SERVER,
    attributes: {
      "http.request.method": original.method,
      "http.target": original.target ?? original.path,
      "url.path": original.path,
      "url.scheme": "https",
      "user_agent.original": original.headers["user-agent"],
      "client.address": original.remoteAddress,
      "enduser.id": caller.name,
      ...(info.isResourceRequest && {
        "k8s.resource": info.apiGroup === "" ? info.resource : `${info.apiGroup}/${info.resource}`,
        "k8s.namespace.name": info.namespace === "" ? undefined : info.namespace,
        "k8s.object.name": info.name === "" ? undefined : info.name,
      }),
    },
    links: link === undefined ? [] : [link],
  });
}

function answered({ headers }: Authenticated, span: Span, response: ApiResponse): ApiResponse {
  const { status } = response;
  span.set({ "http.response.status_code": status, [AUDIT_ID]: headers[AUDIT_ID] });
  if (status >= 500) span.fail(String(status));
  if (!isStream(response)) {
    span.end();
    return response;
  }
  return {
    ...response,
    stream: async (sink) => {
      try {
        await response.stream(sink);
      } finally {
        span.end();
      }
    },
  };
}

function failed(span: Span, error: unknown): never {
  span.fail(error instanceof Error ? error.message : String(error));
  span.end();
  throw error;
}

/** Names of objects stay out of it, so that requests of one kind can be compared. */
function nameOf(info: RequestInfo, method: string): string {
  if (!info.isResourceRequest) return method;
  const { apiGroup, apiVersion, namespace, resource, name, subresource } = info;
  const root = apiGroup === "" ? "/api" : `/apis/${apiGroup}`;
  const parts = [
    namespace === "" ? "" : "/namespaces/{:namespace}",
    `/${resource}`,
    name === "" ? "" : "/{:name}",
    subresource === "" ? "" : `/${subresource}`,
  ];
  return `${method} ${root}/${apiVersion}${parts.join("")}`;
}

/** Around the verb: what it calls and stores is below its span. */
export function traceVerbs(tracer: Tracer): (serve: Next<Authorized>) => Next<Authorized> {
  return (serve) => (exchange) => {
    const { span, info } = exchange;
    const name = span && info.isResourceRequest ? VERBS[info.verb] : undefined;
    if (span === undefined || name === undefined) return serve(exchange);
    const verb = span.child(name);
    return settle(
      () => tracer.run(verb, (): Maybe<ApiResponse> => serve(exchange)),
      (response) => {
        verb.end();
        return response;
      },
      (error) => failed(verb, error),
    );
  };
}
