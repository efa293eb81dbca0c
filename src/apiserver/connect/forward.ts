/**
 * Forwards a request to a node, a pod or a service, and streams the response back.
 *
 * 1. Hop-by-hop headers and credentials are not passed on.
 * 2. It reads only as fast as the caller does, and ends with the caller.
 * 3. An upgrade is passed on; then both connections are joined.
 */
import { type ClientRequest, request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import type { Duplex, Readable } from "node:stream";
import { type Clock, type Dial, joined, networkErrorText, secured } from "#base";
import type { ApiRequest, ApiResponse, Sink } from "../http/exchange.ts";

const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_WAITING_BYTES = 1024 * 1024;
const DRAIN_MS = 5;
const CONNECT_TIMEOUT_MS = 30_000;

const OWN_HEADERS = new Set([
  "authorization",
  "connection",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "content-length",
]);

const UPGRADE = new Set(["connection", "upgrade"]);

export interface Target {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  /** With its query. */
  readonly path: string;
  /** The client certificate of this server, and the authority of the target. */
  readonly tls?: { readonly cert?: string; readonly key?: string; readonly ca?: string } | undefined;
  /** How long it may take to respond. */
  readonly timeoutMs?: number | undefined;
  /** Aborts when this server stops: cuts what is being forwarded. */
  readonly stopping?: AbortSignal | undefined;
  /** Opens the connection. Default: plain TCP. */
  readonly dial?: Dial | undefined;
}

/** The request failed before a response. The message says why, in the words of Go. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
  /** It failed on a kept connection, which the server may have closed while it was idle. */
  readonly wasKept: boolean;

  constructor(
    message: string,
    { cause, wasKept = false }: { readonly cause?: unknown; readonly wasKept?: boolean } = {},
  ) {
    super(message, { cause });
    this.wasKept = wasKept;
  }
}

/** What the target answered. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

/** `edit` may change the answer. */
export async function forward(
  target: Target,
  exchange: ApiRequest,
  clock: Clock,
  edit: (answer: Answer) => Answer = (answer) => answer,
): Promise<ApiResponse> {
  const body =
    exchange.method === "GET" || exchange.method === "HEAD" ? undefined : await exchange.body(MAX_BODY_BYTES);
  const response = await send(target, exchange, body);
  const {
    status,
    headers,
    body: answer,
  } = edit({
    status: response.statusCode ?? 502,
    headers: passedOn(response.headers),
    body: response,
  });
  return { status, headers, stream: (sink) => pumpUntil(target, answer, sink, clock) };
}

/** As `forward`, for an upgrade. If the target declines, its response is an ordinary one. */
export async function forwardUpgrade(target: Target, exchange: ApiRequest, clock: Clock): Promise<ApiResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<{ response: IncomingMessage; connection?: Duplex }>();
  const outgoing = await open(target, exchange, passedOn(exchange.headers, UPGRADE));
  outgoing.once("upgrade", (response, connection, head) => {
    if (head.length > 0) connection.unshift(head);
    resolve({ response, connection });
  });
  outgoing.once("response", (response) => resolve({ response }));
  // Stays attached: later errors also show on the response or the connection.
  outgoing.on("error", (error) => reject(unreachable(error, target)));
  outgoing.end();
  const { response, connection } = await promise;
  const { statusCode: status = 502 } = response;
  if (connection === undefined)
    return { status, headers: passedOn(response.headers), stream: (sink) => pumpUntil(target, response, sink, clock) };
  return {
    status,
    headers: passedOn(response.headers, UPGRADE),
    stream: async () => void connection.destroy(),
    upgrade: (caller) => joined(caller, connection, endOf(target, exchange)),
  };
}

async function send(target: Target, exchange: ApiRequest, body: Buffer | undefined): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const length = body !== undefined && { "content-length": String(body.length) };
  const outgoing = await open(target, exchange, { ...passedOn(exchange.headers), ...length });
  outgoing.once("response", resolve);
  // Stays attached: later errors also show on the response or the connection.
  outgoing.on("error", (error) => reject(unreachable(error, target)));
  outgoing.end(body);
  return promise;
}

/** Throws Unreachable if there is no connection through a proxy. */
async function open(target: Target, exchange: ApiRequest, headers: Record<string, string>): Promise<ClientRequest> {
  const { secure, host, port, path, tls, timeoutMs = CONNECT_TIMEOUT_MS } = target;
  const { method } = exchange;
  const signal = endOf(target, exchange);
  const options: RequestOptions = {
    host,
    port,
    path,
    method,
    headers,
    signal,
    timeout: timeoutMs,
  };
  // A kubelet's certificate may be self-signed: without an authority it is not verified, as in Kubernetes.
  const trust = { ...tls, rejectUnauthorized: tls?.ca !== undefined };
  const dialed = await target.dial?.({ host, port }).catch((error: Error) => {
    throw unreachable(error, target);
  });
  const connection =
    dialed && (secure ? secured(dialed, { ...trust, servername: isIP(host) === 0 ? host : "", host }) : dialed);
  const over = connection === undefined ? { agent: false as const } : { createConnection: () => connection };
  const outgoing =
    secure && connection === undefined
      ? httpsRequest({ ...options, ...trust, ...over })
      : httpRequest({ ...options, ...over });
  const settled = () => outgoing.setTimeout(0);
  outgoing.once("response", settled).once("upgrade", settled);
  outgoing.once("timeout", () => outgoing.destroy(Object.assign(new Error("timeout"), { code: "ETIMEDOUT" })));
  return outgoing;
}

function endOf({ stopping }: Target, { signal }: ApiRequest): AbortSignal {
  return stopping === undefined ? signal : AbortSignal.any([signal, stopping]);
}

/** A response that ends because this server stops is cut, so that the caller sees that it is incomplete. */
async function pumpUntil({ stopping }: Target, response: Readable, sink: Sink, clock: Clock): Promise<void> {
  try {
    await pump(response, sink, clock);
  } catch (error) {
    if (stopping?.aborted !== true) throw error;
    sink.drop();
  }
}

function unreachable(error: Error, target: Target): Unreachable {
  return new Unreachable(networkErrorText(error, target), { cause: error });
}

/** Writes chunks as fast as the sink takes them. */
export async function pump(response: Readable, sink: Sink, clock: Clock): Promise<void> {
  const stop = () => response.destroy();
  sink.signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of response) {
      let waiting = sink.write(chunk as Buffer);
      while (waiting > MAX_WAITING_BYTES && !sink.signal.aborted) {
        await clock.sleep(DRAIN_MS, sink.signal).catch(() => {});
        waiting = sink.write(Buffer.alloc(0));
      }
    }
  } catch (error) {
    if (!sink.signal.aborted) throw error;
  } finally {
    sink.signal.removeEventListener("abort", stop);
    response.destroy();
  }
}

/** `keep`: hop-by-hop headers to pass on nevertheless. */
function passedOn(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  keep: ReadonlySet<string> = new Set(),
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(":") || name.startsWith("impersonate-")) continue;
    if (OWN_HEADERS.has(name) && !keep.has(name)) continue;
    kept[name] = typeof value === "string" ? value : value.join(", ");
  }
  return kept;
}
