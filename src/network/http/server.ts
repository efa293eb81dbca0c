/**
 * The HTTP and HTTPS ports: HTTP/1.1 and HTTP/2, without TLS on one, over TLS on the other.
 *
 * 1. Routes are looked up for each request and certificates for each handshake: changing them touches no connection.
 * 2. When it stops, it accepts no new connections, and requests under way have a limited time to finish.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttp2Server, createSecureServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo, Server, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContext, TLSSocket } from "node:tls";
import { type Hello, readHello } from "./client-hello.ts";
import {
  type ClientRequest,
  type ClientResponse,
  type ExchangeOptions,
  exchange,
  REFUSALS,
  refuse,
} from "./exchange.ts";
import { divert, divertTo, isPreface } from "./first-bytes.ts";
import type { Origin } from "./headers.ts";
import { refuseUpgrade, upgrade } from "./upgrade.ts";

export interface CertificatePem {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface HttpServerOptions extends ExchangeOptions {
  readonly address: string;
  /** 0 picks a free port; undefined: not served. */
  readonly httpPort: number | undefined;
  readonly httpsPort: number | undefined;
  readonly certificateOf: (serverName: string) => SecureContext | undefined;
  /** For clients without SNI. */
  readonly defaultCertificate: CertificatePem | undefined;
  readonly connectMs: number;
  readonly maxConnections: number;
  /** Who takes a connection to the HTTPS port instead, by the name that it asks for. */
  readonly takerOf?: ((socket: Socket, port: number, hello: Hello) => (() => void) | undefined) | undefined;
}

export interface HttpProxyServer {
  readonly httpPort: number | undefined;
  readonly httpsPort: number | undefined;
  /** Waits up to `drainMs` for requests under way. */
  stop(drainMs: number): Promise<void>;
}

const LIMITS = {
  maxHeaderSize: 16_384,
  headersTimeout: 20_000,
  // exchange.ts watches the progress of bodies.
  requestTimeout: 0,
  keepAliveTimeout: 65_000,
  noDelay: true,
} as const;
const MAX_STREAMS = 128;

/**
 * Upgrades to HTTP/2 are not supported (RFC 9113 has none), nor are upgrades of requests with a body: both go on in
 * HTTP/1.1.
 */
function mayUpgrade({ headers }: IncomingMessage): boolean {
  const hasBody = headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
  return !hasBody && !/^h2c\b/i.test(headers.upgrade ?? "");
}

export async function startHttpServer(options: HttpServerOptions): Promise<HttpProxyServer> {
  const { address, httpPort, httpsPort, metrics, clock, log } = options;
  const state = { isStopping: false };
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  const open = new Set<ServerResponse>();
  const servers: Server[] = [];

  const answer = (protocol: "http" | "https") => (request: ClientRequest, response: ClientResponse) => {
    if (!("stream" in response)) {
      open.add(response);
      response.once("close", () => open.delete(response));
      if (state.isStopping) response.setHeader("connection", "close");
    }
    request.on("error", () => {}); // its reader and the response notice the end
    response.on("error", () => {});
    exchange(options, request, response, originOf(request, protocol)).catch((error: unknown) => {
      log.error("a request could not be served", { error });
      refuse(response, REFUSALS.failed);
    });
  };
  const upgraded = (protocol: "http" | "https") => (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgrade(options, request, socket, head, originOf(request, protocol)).catch((error: unknown) => {
      log.error("a connection could not be upgraded", { error });
      refuseUpgrade(socket, REFUSALS.failed);
    });
  };
  const listen = async (server: Server, port: number): Promise<number> => {
    server.maxConnections = options.maxConnections;
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      metrics.connected(1);
      socket.once("close", () => {
        sockets.delete(socket);
        metrics.connected(-1);
      });
    });
    server.listen(port, address);
    await once(server, "listening");
    servers.push(server);
    return (server.address() as AddressInfo).port;
  };
  const followSession = (session: ServerHttp2Session) => {
    sessions.add(session);
    session.on("error", () => session.destroy());
    session.once("close", () => sessions.delete(session));
  };
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const stop = async (drainMs: number) => {
    state.isStopping = true;
    const closed = servers.map((server) => once(server, "close"));
    for (const server of servers) server.close();
    for (const session of sessions) session.close();
    for (const response of open) if (!response.headersSent) response.setHeader("connection", "close");
    const timer = clock.timer(drainMs, destroyAll);
    await Promise.all(closed);
    timer.cancel();
  };

  try {
    let http: number | undefined;
    let https: number | undefined;
    if (httpPort !== undefined) {
      const server = createServer(
        { ...LIMITS, shouldUpgradeCallback: mayUpgrade },
        answer("http") as (request: IncomingMessage, response: ServerResponse) => void,
      );
      server.on("upgrade", upgraded("http"));
      const http2 = createHttp2Server({ settings: { maxConcurrentStreams: MAX_STREAMS } }, answer("http"));
      http2.on("session", followSession);
      divert(server, isPreface, http2);
      http = await listen(server, httpPort);
    }
    if (httpsPort !== undefined) {
      const server = secureServer(options);
      server.on("request", answer("https"));
      server.on("upgrade", upgraded("https"));
      server.on("tlsClientError", (error, socket) => {
        log.debug("a TLS handshake failed", { from: socket.remoteAddress, error });
        socket.destroy();
      });
      server.on("session", followSession);
      const { takerOf } = options;
      if (takerOf !== undefined)
        divertTo(server, (socket, first) => {
          const hello = readHello(first);
          return hello === "more" ? "wait" : (takerOf(socket, socket.localPort ?? 0, hello) ?? "own");
        });
      https = await listen(server, httpsPort);
    }
    return { httpPort: http, httpsPort: https, stop };
  } catch (error) {
    await stop(0);
    throw error;
  }
}

function secureServer({ certificateOf, defaultCertificate }: HttpServerOptions) {
  return createSecureServer({
    ...LIMITS,
    allowHTTP1: true,
    minVersion: "TLSv1.2",
    settings: { maxConcurrentStreams: MAX_STREAMS },
    cert: defaultCertificate?.certPem,
    key: defaultCertificate?.keyPem,
    SNICallback: (name, done) => done(null, certificateOf(name)),
  });
}

function originOf(request: ClientRequest, protocol: "http" | "https"): Origin {
  const socket: Socket | TLSSocket | undefined = "stream" in request ? request.stream.session?.socket : request.socket;
  return {
    address: (socket?.remoteAddress ?? "").replace(/^::ffff:/, ""),
    protocol,
    port: socket?.localPort ?? 0,
    host: ("authority" in request ? request.authority : undefined) || (request.headers.host ?? ""),
    httpVersion: request.httpVersion,
  };
}
