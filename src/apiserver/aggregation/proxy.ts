/**
 * Proxies requests for a group version that an extension server serves.
 *
 *     caller ──► (authenticated and authorized here) ──► extension server ──► its own authorization ──► answer
 *
 * 1. Bodies are streams in both directions, with back-pressure. The end of either side ends both.
 * 2. The X-Remote-… headers name the user; the extension server trusts them because of the front-proxy certificate.
 * 3. A failing extension server does not affect other requests.
 */
import { StatusError } from "#api";
import { addressText, type Clock, childController, joined, type Logger } from "#base";
import { CLIENT } from "#tracing";
import { pump, Unreachable } from "../connect/forward.ts";
import type { ApiRequest, ApiResponse, WholeResponse } from "../http/exchange.ts";
import { isLongRunning } from "../http/long-running.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { ANONYMOUS } from "../identity/user.ts";
import type { Authorized } from "../pipeline/exchange.ts";
import { type ApiService, isAvailable } from "./api-service.ts";
import type { Incoming, Outgoing } from "./backend.ts";
import { BackendFault, type Backends, type Reached } from "./backends.ts";
import { passedBack, passedOn } from "./passed-headers.ts";
import { remoteUserHeaders, UnspeakableUser } from "./remote-user.ts";

const MAX_BODY_BYTES = 64 * 1024 * 1024;
const ANSWER_WITHIN_MS = 60_000;
const UPGRADE = ["connection", "upgrade"];
/** Correlates the audit logs of both servers. */
const AUDIT_ID = "audit-id";

export interface ProxyOptions {
  readonly backends: Backends;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when this server stops: cuts requests under way. */
  readonly stopping: AbortSignal;
  /** Redirects are passed on. Default: they are answered 502. */
  readonly passesRedirects?: boolean | undefined;
  /** How long an answer may take, unless the request is long-running. Default: a minute. */
  readonly answerWithinMs?: number | undefined;
}

/** `name`: the name of the APIService. */
export async function proxied(
  exchange: Authorized,
  { name, service }: { readonly name: string; readonly service: ApiService },
  options: ProxyOptions,
): Promise<ApiResponse> {
  if (!isAvailable(service)) return textAnswer(503, "service unavailable");
  const reached = reach(name, service, options);
  if ("status" in reached) return reached;
  const { request, info } = exchange;
  const span = exchange.span?.child(`HTTP ${request.method}`, {
    kind: CLIENT,
    attributes: { "k8s.api_service": name },
  });
  try {
    const outgoing = await outgoingOf(exchange, reached, span?.headers());
    return request.isUpgrade === true
      ? await upgraded(request, outgoing, reached, options)
      : await streamed(request, info, outgoing, reached, options);
  } catch (error) {
    const isKnown = error instanceof Unreachable || error instanceof UnspeakableUser;
    // The caller has gone: the error does not matter.
    if (!isKnown && !request.signal.aborted && !options.stopping.aborted) throw error;
    span?.fail((error as Error).message);
    return textAnswer(503, `error trying to reach service: ${(error as Error).message}`);
  } finally {
    span?.end();
  }
}

function reach(name: string, service: ApiService, { backends, log }: ProxyOptions): Reached | WholeResponse {
  try {
    return backends.reach(name, service);
  } catch (error) {
    if (error instanceof BackendFault) return textAnswer(500, error.message);
    log.warn("an APIService cannot be reached", { name, error });
    return textAnswer(503, "service unavailable");
  }
}

async function outgoingOf(
  { request, headers: own }: Authorized,
  { address }: Reached,
  trace: Readonly<Record<string, string>> | undefined,
): Promise<Outgoing> {
  const auditId = own[AUDIT_ID];
  const { method, path, query, headers, user = ANONYMOUS } = request;
  const body = await bodyOf(request);
  return {
    method,
    path: query.size > 0 ? `${path}?${query}` : path,
    headers: {
      ...passedOn(headers, request.isUpgrade === true ? UPGRADE : []),
      "x-forwarded-uri": path,
      "x-forwarded-host": addressText(address),
      "x-forwarded-proto": "https",
      ...(auditId !== undefined && { [AUDIT_ID]: auditId }),
      ...trace,
      ...remoteUserHeaders(user),
    },
    body,
  };
}

/** A stream for requests over the network; whole for requests from this process. */
async function bodyOf(request: ApiRequest): Promise<Outgoing["body"]> {
  const { method, headers, source } = request;
  const isRead = method === "GET" || method === "HEAD";
  const announced = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  if (source !== undefined) return announced || !isRead ? source : undefined;
  if (isRead) return undefined;
  const whole = await request.body(MAX_BODY_BYTES);
  return whole.length > 0 ? whole : undefined;
}

async function streamed(
  request: ApiRequest,
  info: RequestInfo,
  outgoing: Outgoing,
  { backend, address }: Reached,
  { clock, log, stopping, passesRedirects = false, answerWithinMs = ANSWER_WITHIN_MS }: ProxyOptions,
): Promise<ApiResponse> {
  const lasting = isLongRunning(info);
  const end = endOf(request.signal, lasting ? stopping : undefined);
  const timer = lasting ? undefined : clock.timer(answerWithinMs, () => end.abort(timedOut()));
  let incoming: Incoming;
  try {
    incoming = await backend.send(address, outgoing, end.signal);
  } catch (error) {
    end.release();
    throw end.signal.aborted && end.signal.reason instanceof StatusError ? end.signal.reason : error;
  } finally {
    timer?.cancel();
  }
  const { status, headers, body } = incoming;
  if (!passesRedirects && status >= 300 && status <= 399 && headers.location !== undefined) {
    end.abort(new Error("a redirect"));
    end.release();
    return plainAnswer(502, "the backend attempted to redirect this request, which is not permitted");
  }
  return {
    status,
    headers: passedBack(headers),
    stream: async (sink) => {
      try {
        await pump(body, sink, clock);
        // The caller has to see that the response is incomplete.
        if (incoming.isBroken() && !sink.signal.aborted) sink.drop();
      } catch (error) {
        log.info("an extension server broke off its answer", { path: request.path, error });
        sink.drop();
      } finally {
        end.release();
      }
    },
  };
}

async function upgraded(
  request: ApiRequest,
  outgoing: Outgoing,
  { backend, address }: Reached,
  { clock, stopping }: ProxyOptions,
): Promise<ApiResponse> {
  const end = endOf(request.signal, stopping);
  try {
    const { incoming, connection } = await backend.upgrade(address, outgoing, end.signal);
    const { status, headers, body } = incoming;
    if (connection === undefined) {
      return { status, headers: passedBack(headers), stream: (sink) => pump(body, sink, clock).finally(end.release) };
    }
    return {
      status,
      headers: passedBack(headers, UPGRADE),
      stream: async () => void connection.destroy(),
      upgrade: (caller) => joined(caller, connection, end.signal).finally(end.release),
    };
  } catch (error) {
    end.release();
    throw error;
  }
}

function timedOut(): StatusError {
  return new StatusError("Timeout", "Timeout: request did not complete within the allotted timeout", { details: {} });
}

/** Aborts with either of two signals; `release` detaches from both. */
function endOf(caller: AbortSignal, stopping: AbortSignal | undefined) {
  const one = childController(caller);
  const abort = () => one.abort(stopping?.reason);
  if (stopping?.aborted === true) abort();
  stopping?.addEventListener("abort", abort, { once: true });
  return {
    signal: one.signal,
    abort: (reason: unknown) => one.abort(reason),
    release: () => {
      one[Symbol.dispose]();
      stopping?.removeEventListener("abort", abort);
    },
  };
}

/** As Go's http.Error writes it. */
function textAnswer(status: number, message: string): WholeResponse {
  return {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
    body: [Buffer.from(`${message}\n`)],
  };
}

function plainAnswer(status: number, message: string): WholeResponse {
  return { status, headers: { "content-type": "text/plain; charset=utf-8" }, body: [Buffer.from(message)] };
}
