/**
 * One TLS port for HTTP/1.1 and HTTP/2, chosen by ALPN.
 *
 *     TLS connection ──► h2:                 Http2Connection ──► stream
 *                    └── http/1.1, nothing:  Node's HTTP server ──► request
 *
 * 1. `listen` resolves when the port accepts connections, or rejects with the system's error (EADDRINUSE, EACCES, …).
 * 2. Client certificates are requested but optional: the pipeline authenticates.
 * 3. Idle connections are closed after a time limit, connections that are slow to begin after a shorter one. A watch is
 *    not idle.
 * 4. `close` accepts no new requests, waits `graceMs` for those in flight, then closes all connections. It never hangs.
 */
import { once } from "node:events";
import { createServer as createHttp1Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from "node:net";
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from "node:tls";
import type { Clock, Logger } from "#base";
import { Http2Connection } from "../http2/index.ts";
import type { HttpHandlers } from "./adapter.ts";

/** The idle timeout of Go clients. */
const IDLE_MS = 90_000;
/** For the TLS handshake, and for the head of a request. */
const HEADERS_MS = 32_000;
/** As Go's servers take: the command of an exec is a part of the URL. */
const MAX_HEADER_BYTES = 1024 * 1024;

export interface ServingCertificate {
  readonly certPem: string;
  readonly keyPem: string;
  /** Empty: client certificates are ignored. */
  readonly clientCaPem: string;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Addresses besides `host` at which the same port is open. */
  readonly alsoAt?: readonly string[] | undefined;
  readonly certificate: ServingCertificate;
  readonly handlers: HttpHandlers;
  /** The idle timeout of connections. Default: 90 s. */
  readonly idleMs?: number;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Listener {
  readonly port: number;
  /** New connections use this certificate from now on. */
  renew(certificate: ServingCertificate): void;
  close(graceMs: number): Promise<void>;
}

export async function listen(options: ListenOptions): Promise<Listener> {
  const { host, port, alsoAt = [], certificate, handlers, idleMs = IDLE_MS, clock, log } = options;
  const http1 = createHttp1Server(
    { keepAliveTimeout: idleMs, headersTimeout: HEADERS_MS, maxHeaderSize: MAX_HEADER_BYTES },
    handlers.http1,
  );
  http1.on("upgrade", handlers.upgrade);
  const server = createTlsServer({
    ...tlsOptions(certificate),
    ALPNProtocols: ["h2", "http/1.1"],
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: "TLSv1.2",
    handshakeTimeout: HEADERS_MS,
    noDelay: true,
  });
  const connections = new Set<Http2Connection>();
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("secureConnection", (socket: TLSSocket) => {
    if (socket.alpnProtocol !== "h2") {
      http1.emit("connection", socket);
      return;
    }
    const connection = new Http2Connection({
      socket,
      onStream: (stream) => handlers.http2(stream, socket),
      idleMs,
      clock,
      log,
    });
    connections.add(connection);
    socket.once("close", () => connections.delete(connection));
  });

  server.listen(port, host);
  await once(server, "listening");
  const listeners: TcpServer[] = [];
  try {
    for (const address of alsoAt) listeners.push(await openAddress(address, server));
  } catch (error) {
    for (const each of [server, ...listeners]) each.close();
    throw error;
  }
  // This server does not listen itself. The event starts its check for connections that time out.
  http1.emit("listening");

  return {
    port: (server.address() as AddressInfo).port,
    renew: (next) => server.setSecureContext(tlsOptions(next)),
    async close(graceMs) {
      const closed = Promise.all(
        [server, ...listeners].map((each) => new Promise<void>((resolve) => each.close(() => resolve()))),
      );
      for (const connection of connections) connection.close();
      http1.close();
      const cut = clock.timer(graceMs, () => {
        for (const socket of sockets) socket.destroy();
      });
      await closed;
      cut.cancel();
    },
  };
}

/** Opens the same port at another address, and hands its connections to the server. */
async function openAddress(host: string, server: TlsServer): Promise<TcpServer> {
  const listener = createTcpServer({ noDelay: true }, (socket) => server.emit("connection", socket));
  listener.listen((server.address() as AddressInfo).port, host);
  await once(listener, "listening");
  return listener;
}

function tlsOptions({ certPem, keyPem, clientCaPem }: ServingCertificate) {
  return { cert: certPem, key: keyPem, ca: clientCaPem };
}
