/**
 * One request from a client to an endpoint and back.
 *
 *     client ──► route ──► endpoint ──► response ──► client
 *                  │          └── unreachable: the next one
 *                  └── no route: 404; no endpoint: 503
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { PassThrough, type Readable } from "node:stream";
import { type Clock, type Logger, nextTurn } from "#base";

import type { Endpoint } from "../proxy/endpoints.ts";
import type { BackendTls } from "./backend-tls.ts";
import type { Backends } from "./backends.ts";
import type { Attempt, Connections, Outgoing } from "./connections.ts";
import { changeHeaders, isLoop, type Origin, requestHeaders, responseHeaders } from "./headers.ts";
import { isGrpc } from "./http2-connections.ts";
import type { IngressMetrics } from "./metrics.ts";
import { mirrored } from "./mirror.ts";
import { requestPath } from "./request-path.ts";
import type { HeaderChanges, RequestInfo, Route } from "./route.ts";

export type ClientRequest = IncomingMessage | Http2ServerRequest;
export type ClientResponse = ServerResponse | Http2ServerResponse;

export interface ExchangeOptions {
  /** By the routes of this moment. */
  readonly findRoute: (request: RequestInfo) => Route | undefined;
  readonly backends: Backends;
  readonly connections: Connections;
  readonly metrics: IngressMetrics;
  readonly trustsForwarded: boolean;
  /** Undefined: unlimited. */
  readonly maxBodyBytes: number | undefined;
  /** A request body without progress for this long is refused. */
  readonly bodyIdleMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A response of the proxy itself. */
export interface Refusal {
  readonly status: number;
  readonly text: string;
  /** For redirects. */
  readonly location?: string;
}

export const REFUSALS = {
  badRequest: { status: 400, text: "400 bad request" },
  noRoute: { status: 404, text: "404 page not found" },
  badMethod: { status: 405, text: "405 method not allowed" },
  stalled: { status: 408, text: "408 request timeout" },
  tooLarge: { status: 413, text: "413 request body too large" },
  failed: { status: 502, text: "502 the backend failed" },
  unavailable: { status: 503, text: "503 no backend is available" },
  late: { status: 504, text: "504 the backend did not answer in time" },
  noBackend: { status: 500, text: "500 the route has no backend" },
  noTls: { status: 500, text: "500 the backend's TLS policy cannot be carried out" },
  loop: { status: 508, text: "508 loop detected" },
} as const satisfies Record<string, Refusal>;

/** A request with its route and endpoints. */
export interface Routed {
  readonly route: Route;
  readonly endpoints: readonly Endpoint[];
  readonly path: string;
  readonly tls: BackendTls | undefined;
}

/** Where a request goes, or the response if it goes nowhere. */
export function routed(
  { findRoute, backends }: Pick<ExchangeOptions, "findRoute" | "backends">,
  request: ClientRequest,
  origin: Origin,
): Routed | (Refusal & { readonly route?: Route }) {
  const url = requestPath(request.url ?? "");
  if (url === undefined) return REFUSALS.badRequest;
  if (request.method === "CONNECT" || request.method === "TRACE") return REFUSALS.badMethod;
  if (isLoop(request.headers)) return REFUSALS.loop;
  const { method = "GET", headers } = request;
  const { host, port } = origin;
  const route = findRoute({ ...url, host, port, method, headers });
  if (route === undefined) return REFUSALS.noRoute;
  const { answer, path = url.path } = route.changes ?? {};
  if (answer !== undefined) {
    const { status, location } = answer;
    return location === undefined
      ? { ...REFUSALS.noBackend, status, route }
      : { status, location, text: `${status} redirect`, route };
  }
  const tls = route.backend === undefined ? undefined : backends.tlsOf(route.backend);
  if (tls === "closed") return { ...REFUSALS.noTls, route };
  const endpoints = route.backend === undefined ? [] : backends.choose(route.backend);
  if (endpoints.length === 0) return { ...REFUSALS.unavailable, route };
  return { route, endpoints, path: path + url.query, tls };
}

export async function exchange(
  options: ExchangeOptions,
  request: ClientRequest,
  response: ClientResponse,
  origin: Origin,
): Promise<void> {
  const { metrics, clock } = options;
  const start = clock.monotonic();
  const found = routed(options, request, origin);
  response.once("close", () =>
    metrics.answered(found.route?.owner, response.statusCode, clock.monotonic() - start, isWhole(response)),
  );
  if ("status" in found) return refuse(response, found);
  const declared = Number(request.headers["content-length"] ?? 0);
  const { maxBodyBytes = Number.POSITIVE_INFINITY } = options;
  if (declared > maxBodyBytes) return refuse(response, REFUSALS.tooLarge);
  const gone = new AbortController();
  response.once("close", () => {
    if (!isWhole(response)) gone.abort(new Error("the client has disconnected"));
  });
  const bounded = hasBody(request) ? new LimitedBody(request, maxBodyBytes) : undefined;
  // A stream of gRPC may be silent for long.
  if (bounded !== undefined && !isGrpc(request.headers)) expectProgress(options, request, response);
  const { changes = {} } = found.route;
  const headers = requestHeaders(request.headers, origin, options.trustsForwarded);
  if (changes.host !== undefined) headers.host = changes.host;
  changeHeaders(headers, changes.requestHeaders);
  // Node's HTTP server has answered Expect already.
  delete headers.expect;
  const http2 = found.route.backend !== undefined && options.backends.speaksHttp2(found.route.backend);
  if (http2 && request.headers.te?.includes("trailers")) headers.te = "trailers";
  if (bounded !== undefined && headers["content-length"] === undefined) headers["transfer-encoding"] = "chunked";
  const asked = {
    method: request.method ?? "GET",
    path: found.path,
    headers,
    body: bounded?.stream,
    http2,
    tls: found.tls,
  };
  const outgoing = mirrored(options, changes.mirrors ?? [], asked, gone.signal);
  if (changes.timeoutMs !== undefined) {
    const timer = clock.timer(changes.timeoutMs, () => {
      if (response.writableEnded) return;
      refuse(response, REFUSALS.late);
      gone.abort(new Error("the route's timeout is over"));
    });
    response.once("close", () => timer.cancel());
  }
  const attempt = await firstAnswer(options, found.endpoints, outgoing, gone.signal);
  if (gone.signal.aborted) return;
  if (attempt.kind === "answered") return passOn(attempt, response, changes.responseHeaders);
  options.log.debug("a request failed", { route: found.route.owner, error: attempt.error });
  if (bounded?.isTooLarge === true) return refuse(response, REFUSALS.tooLarge);
  if (attempt.kind === "unreached") return refuse(response, REFUSALS.unavailable);
  refuse(response, attempt.inTime ? REFUSALS.failed : REFUSALS.late);
}

/** The response of the first endpoint that can be reached. */
async function firstAnswer(
  { connections, backends, metrics }: ExchangeOptions,
  endpoints: readonly Endpoint[],
  outgoing: Outgoing,
  signal: AbortSignal,
): Promise<Attempt> {
  let last: Attempt = { kind: "unreached", error: new Error("there is no endpoint") };
  for (const endpoint of endpoints) {
    last = await connections.send(endpoint, outgoing, signal);
    if (last.kind !== "unreached" || signal.aborted) return last;
    backends.avoid(endpoint);
    metrics.retried();
  }
  return last;
}

function passOn(
  { answer }: Attempt & { kind: "answered" },
  response: ClientResponse,
  changes: readonly HeaderChanges[] = [],
): void {
  const headers = responseHeaders(answer.headers);
  changeHeaders(headers, changes);
  if (answer.isEmpty === true && "stream" in response) {
    endWithHead(response, answer.statusCode ?? 502, headers);
    return;
  }
  writeHead(response, answer.statusCode ?? 502, headers);
  // A truncated response must not look complete.
  answer.once("error", () => cut(response));
  answer.once("end", () => {
    if (Object.keys(answer.trailers).length > 0) response.addTrailers(answer.trailers as Record<string, string>);
  });
  answer.pipe(response as ServerResponse);
  // The client gets the head of a response even if the endpoint delays its body.
  if ("stream" in response) return;
  void nextTurn().then(() => {
    if (!response.writableEnded && !response.destroyed) response.flushHeaders();
  });
}

/** A head that ends its stream, as gRPC has it where there is no message. */
function endWithHead(response: Http2ServerResponse, status: number, headers: OutgoingHttpHeaders): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) response.setHeader(name, value as string);
  response.end();
}

function writeHead(response: ClientResponse, status: number, headers: OutgoingHttpHeaders): void {
  if ("stream" in response) response.writeHead(status, headers);
  else response.writeHead(status, headers);
}

export function refuse(response: ClientResponse, { status, text, location }: Refusal): void {
  if (response.headersSent || response.destroyed) {
    cut(response);
    return;
  }
  const body = `${text}\n`;
  writeHead(response, status, {
    "content-type": "text/plain; charset=utf-8",
    "content-length": body.length,
    ...(location !== undefined && { location }),
  });
  response.end(body);
}

function cut(response: ClientResponse): void {
  if ("stream" in response) response.stream?.close(2 /* INTERNAL_ERROR */);
  else response.destroy();
}

function isWhole(response: ClientResponse): boolean {
  // A response over HTTP/2 is finished with its stream, also where the client has given it up.
  return "stream" in response ? response.writableEnded : response.writableFinished;
}

function hasBody(request: ClientRequest): boolean {
  if ("stream" in request) return !request.stream.endAfterHeaders;
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  return encoding !== undefined || (length !== undefined && length !== "0");
}

/** A client that stops sending its body must not occupy an endpoint forever. */
function expectProgress(
  { clock, bodyIdleMs }: ExchangeOptions,
  request: ClientRequest,
  response: ClientResponse,
): void {
  const { socket } = request;
  let seen = -1;
  const look = () => {
    if (request.readableEnded || request.destroyed) return;
    if (socket.bytesRead === seen) {
      refuse(response, REFUSALS.stalled);
      request.destroy();
      return;
    }
    seen = socket.bytesRead;
    timer = clock.timer(bodyIdleMs, look);
  };
  let timer = clock.timer(bodyIdleMs, look);
  response.once("close", () => timer.cancel());
}

/** A body of limited size. */
class LimitedBody {
  readonly stream: Readable;
  isTooLarge = false;

  constructor(body: Readable, most: number) {
    if (most === Number.POSITIVE_INFINITY) {
      this.stream = body;
      return;
    }
    let left = most;
    const counted = new PassThrough();
    body.on("data", (chunk: Buffer) => {
      left -= chunk.length;
      if (left >= 0) return;
      this.isTooLarge = true;
      counted.destroy(new Error("the body is too large"));
    });
    body.once("error", (error) => counted.destroy(error));
    this.stream = counted;
    body.pipe(counted);
  }
}
