/**
 * Passes a request on to a node, a pod or a service, and its answer back, as a stream in both senses.
 *
 * 1. What speaks of this connection, or of who is calling, is not passed on.
 * 2. It reads on only as fast as the caller takes it, and ends with the caller.
 * 3. A request that asks to go on in another protocol is passed on as such: from then on both connections are one.
 */
import { type ClientRequest, request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Duplex, Readable } from "node:stream";
import { type Clock, joined, networkErrorText } from "#base";
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
  /** Of this server, for targets that want to know who asks. */
  readonly tls?: { readonly cert?: string; readonly key?: string; readonly ca?: string };
  /** How long it may take to answer. */
  readonly timeoutMs?: number;
  /** Aborts when this server ends: what is passed on then breaks off. */
  readonly stopping?: AbortSignal;
}

/** The target could not be reached: nothing was answered yet. The message says why, as Go does. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
  /** It was tried on a connection that had been kept from before: that may just have been at its end. */
  readonly wasKept: boolean;

  constructor(
    message: string,
    { cause, wasKept = false }: { readonly cause?: unknown; readonly wasKept?: boolean } = {},
  ) {
    super(message, { cause });
    this.wasKept = wasKept;
  }
}

export async function forward(target: Target, exchange: ApiRequest, clock: Clock): Promise<ApiResponse> {
  const body =
    exchange.method === "GET" || exchange.method === "HEAD" ? undefined : await exchange.body(MAX_BODY_BYTES);
  const response = await send(target, exchange, body);
  const { statusCode = 502 } = response;
  return {
    status: statusCode,
    headers: passedOn(response.headers),
    stream: (sink) => pumpUntil(target, response, sink, clock),
  };
}

/** As `forward`, for a request that asks to go on in another protocol. The target may decline: then its answer is an ordinary one. */
export async function forwardUpgrade(target: Target, exchange: ApiRequest, clock: Clock): Promise<ApiResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<{ response: IncomingMessage; connection?: Duplex }>();
  const outgoing = open(target, exchange, passedOn(exchange.headers, UPGRADE));
  outgoing.once("upgrade", (response, connection, head) => {
    if (head.length > 0) connection.unshift(head);
    resolve({ response, connection });
  });
  outgoing.once("response", (response) => resolve({ response }));
  // Also for what goes wrong later, which is seen on the answer or the connection.
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
  const outgoing = open(target, exchange, { ...passedOn(exchange.headers), ...length });
  outgoing.once("response", resolve);
  // Also for what goes wrong later, which is seen on the answer or the connection.
  outgoing.on("error", (error) => reject(unreachable(error, target)));
  outgoing.end(body);
  return promise;
}

function open(target: Target, exchange: ApiRequest, headers: Record<string, string>): ClientRequest {
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
    agent: false,
  };
  // A kubelet's certificate is its own until a cluster signs them: without an authority to check it by, it is not checked, as in the original.
  const outgoing = secure
    ? httpsRequest({ ...options, ...tls, rejectUnauthorized: tls?.ca !== undefined })
    : httpRequest(options);
  const settled = () => outgoing.setTimeout(0);
  outgoing.once("response", settled).once("upgrade", settled);
  outgoing.once("timeout", () => outgoing.destroy(Object.assign(new Error("timeout"), { code: "ETIMEDOUT" })));
  return outgoing;
}

function endOf({ stopping }: Target, { signal }: ApiRequest): AbortSignal {
  return stopping === undefined ? signal : AbortSignal.any([signal, stopping]);
}

/** What breaks off because this server ends is cut, so that its caller sees that it was not all. */
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

/** Writes what comes, as fast as it is taken. */
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

/** `keep`: of those about a connection, what becomes of the next one too. */
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
