/**
 * The kubelet's server, for the API server and metrics collectors.
 *
 *     TLS ──► authenticate, authorize ──► route ──► response, or a stream
 *
 * 1. Every request is authenticated and authorized (access.ts).
 * 2. `stop` ends open requests: followed logs, commands, forwarded ports.
 * 3. A renewed certificate is used for new connections, with the same versions and ciphers of TLS.
 */
import { once } from "node:events";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContextOptions, TLSSocket } from "node:tls";
import { isAbort, STRONG_CIPHERS } from "#base";
import type { KeyPair } from "#pki";
import type { KubeletConfig } from "../config/index.ts";
import { KubeletAccess } from "./access.ts";
import { type Answer, type Ask, Refusal, text } from "./exchange.ts";
import { serverMetrics } from "./own-metrics.ts";
import { type Routes, routes } from "./routes.ts";
import type { Served } from "./served.ts";
import { serveStream } from "./streams/streams.ts";
import { decline, type Upgrade } from "./streams/upgrade.ts";

export interface KubeletServerOptions extends Served {
  /** Default: all addresses. */
  readonly host?: string;
  /** Default: that of the kubelet's configuration. 0: any free port. */
  readonly port?: number;
  readonly certificate: KeyPair;
  /** The authority of client certificates. */
  readonly clientCaPem: string;
}

export interface KubeletServer {
  readonly port: number;
  renew(certificate: KeyPair): void;
  stop(): Promise<void>;
}

/** As Go's servers take: the command of an exec is a part of the URL. */
const MAX_HEADER_BYTES = 1024 * 1024;
const STREAMS = new Set(["exec", "attach", "portForward"]);

export async function startKubeletServer(options: KubeletServerOptions): Promise<KubeletServer> {
  const { kubelet, clock, log, certificate, clientCaPem } = options;
  const { client, config } = kubelet;
  const access = new KubeletAccess({ client, nodeName: config.nodeName, clock });
  const paths = routes(options);
  const counted = serverMetrics(options.metrics, kubelet, clock);
  const stopping = new AbortController();
  const sockets = new Set<Duplex>();

  const server = createServer({
    ...contextOptions(certificate, clientCaPem, config.serverTls),
    requestCert: true,
    rejectUnauthorized: false,
    noDelay: true,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  server.on("secureConnection", (socket: TLSSocket) => {
    sockets.add(socket);
    // Without a listener, a client's reset would be an uncaught error; `close` follows.
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
  });

  const admit = async (request: IncomingMessage, ask: Ask): Promise<void> => {
    const verdict = await access.check(ask, request.headers, request.socket as TLSSocket);
    if (verdict === "unknown") throw new Refusal(401, "Unauthorized");
    if (verdict !== "allowed") throw new Refusal(403, verdict.denied);
  };
  const refused = (error: unknown, { path, signal }: Ask): Answer => {
    if (error instanceof Refusal) return error.answer;
    if (!isAbort(error, signal)) log.warn("kubelet request failed", { path, error });
    return text(500, `${(error as Error).message}\n`);
  };

  server.on("request", (request, response) => {
    const ask = askOf(request, endOf(response, stopping.signal));
    response.once("close", counted.begun(ask.method, ask.path));
    const answering = async () => {
      try {
        await admit(request, ask);
        return await answer(paths, ask);
      } catch (error) {
        return refused(error, ask);
      }
    };
    void answering()
      .then((given) => send(given, response))
      .catch((error: unknown) => {
        if (!ask.signal.aborted) log.warn("kubelet response interrupted", { path: ask.path, error });
        response.destroy();
      });
  });
  server.on("upgrade", (request, socket, head) => {
    const ask = askOf(request, endOf(socket, stopping.signal));
    socket.once("close", counted.begun(ask.method, ask.path));
    const upgrade: Upgrade = { request, socket, head, isAccepted: false };
    const streaming = async () => {
      await admit(request, ask);
      if (!config.debuggingHandlers) throw new Refusal(405, "Debug endpoints are disabled.\n");
      await serveStream(options, ask, upgrade);
    };
    void streaming().catch((error: unknown) => {
      const given = refused(error, ask);
      if (upgrade.isAccepted) socket.destroy();
      else if (!socket.writableEnded && !socket.destroyed) decline(upgrade, given);
    });
  });

  server.listen(options.port ?? config.port, options.host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    renew: (fresh) => server.setSecureContext(contextOptions(fresh, clientCaPem, config.serverTls)),
    stop: () => stop(server, stopping, sockets),
  };
}

function contextOptions(
  { certPem, keyPem }: KeyPair,
  clientCaPem: string,
  { minVersion = "TLSv1.2", ciphers = STRONG_CIPHERS.join(":") }: NonNullable<KubeletConfig["serverTls"]> = {},
): SecureContextOptions {
  return { cert: certPem, key: keyPem, ca: clientCaPem, minVersion, ciphers };
}

async function stop(server: Server, stopping: AbortController, sockets: ReadonlySet<Duplex>): Promise<void> {
  const closed = once(server, "close");
  server.close();
  stopping.abort(new Error("the kubelet ends"));
  for (const socket of sockets) socket.destroy();
  await closed;
}

async function answer(paths: Routes, ask: Ask): Promise<Answer> {
  const [, first = ""] = ask.path.split("/");
  if (STREAMS.has(first)) throw new Refusal(400, "Upgrade request required");
  const handler = paths[first];
  return handler === undefined ? text(404, "404 page not found\n") : await handler(ask);
}

function askOf({ method = "GET", url = "/", headers }: IncomingMessage, signal: AbortSignal): Ask {
  const at = url.indexOf("?");
  const path = at < 0 ? url : url.slice(0, at);
  const rest = path.split("/").slice(2).map(decoded);
  return { method, path, rest, query: new URLSearchParams(at < 0 ? "" : url.slice(at + 1)), headers, signal };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // not percent-encoded
  }
}

/** Aborts when the client disconnects or the server stops. */
function endOf(peer: { once(event: "close", listener: () => void): unknown }, stopping: AbortSignal): AbortSignal {
  const gone = new AbortController();
  const end = () => gone.abort(stopping.reason);
  if (stopping.aborted) end();
  stopping.addEventListener("abort", end, { once: true });
  peer.once("close", () => {
    stopping.removeEventListener("abort", end);
    gone.abort(new DOMException("The caller has gone, or has its answer.", "AbortError"));
  });
  return gone.signal;
}

async function send({ status, headers = {}, body }: Answer, response: ServerResponse): Promise<void> {
  const values = Object.entries(headers).map(([name, value]) => [name, typeof value === "string" ? value : [...value]]);
  response.writeHead(status, Object.fromEntries(values) as OutgoingHttpHeaders);
  if (typeof body === "string" || Buffer.isBuffer(body)) {
    response.end(body);
    return;
  }
  // Headers first: a follower knows at once that there is a log.
  response.flushHeaders();
  for await (const bytes of body) {
    if (response.destroyed) return;
    if (!response.write(bytes)) await drained(response);
  }
  response.end();
}

async function drained(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once("drain", resolve).once("close", resolve);
  await promise;
  response.off("drain", resolve).off("close", resolve);
}
