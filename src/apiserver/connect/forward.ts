/**
 * Passes a request on to a node, a pod or a service, and its answer back, as a stream in both senses.
 *
 * 1. What speaks of this connection, or of who is calling, is not passed on.
 * 2. It reads on only as fast as the caller takes it, and ends with the caller.
 */
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Readable } from "node:stream";
import type { Clock } from "#base";
import type { ApiRequest, ApiResponse, Sink } from "../http/exchange.ts";
import { dialError } from "./dial-error.ts";

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

export interface Target {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  /** With its query. */
  readonly path: string;
  /** Of this server, for targets that want to know who asks. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca?: string };
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
  return { status: statusCode, headers: passedOn(response.headers), stream: (sink) => pump(response, sink, clock) };
}

function send(
  { secure, host, port, path, tls }: Target,
  exchange: ApiRequest,
  body: Buffer | undefined,
): Promise<IncomingMessage> {
  const options: RequestOptions = {
    host,
    port,
    path,
    method: exchange.method,
    headers: { ...passedOn(exchange.headers), ...(body !== undefined && { "content-length": String(body.length) }) },
    signal: exchange.signal,
    timeout: CONNECT_TIMEOUT_MS,
    agent: false,
  };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // A kubelet's certificate is its own until a cluster signs them: without an authority to check it by, it is not checked, as in the original.
  const outgoing = secure
    ? httpsRequest({ ...options, ...tls, rejectUnauthorized: tls?.ca !== undefined })
    : httpRequest(options);
  outgoing.once("response", (response) => {
    outgoing.setTimeout(0);
    resolve(response);
  });
  outgoing.once("timeout", () => outgoing.destroy(Object.assign(new Error("timeout"), { code: "ETIMEDOUT" })));
  outgoing.once("error", (error) => reject(new Unreachable(dialError(error, host, port), { cause: error })));
  outgoing.end(body);
  return promise;
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

function passedOn(headers: Readonly<Record<string, string | readonly string[] | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(":") || OWN_HEADERS.has(name) || name.startsWith("impersonate-"))
      continue;
    kept[name] = typeof value === "string" ? value : value.join(", ");
  }
  return kept;
}
