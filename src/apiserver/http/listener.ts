/**
 * One TLS port for HTTP/1.1 and HTTP/2: the handshake says which.
 *
 *     TLS connection ──► h2:                 Http2Connection ──► stream
 *                    └── http/1.1, nothing:  Node's HTTP server ──► request
 *
 * 1. `listen` resolves when the port accepts connections, or rejects with the system's error (EADDRINUSE, EACCES, …).
 * 2. Client certificates are asked for but not demanded: who the caller is, and what follows, is decided in the
 *    pipeline.
 * 3. A connection on which nothing is asked is closed after a while; one that is slow to begin, sooner. A watch is a
 *    request that is under way.
 * 4. `close` takes no new requests, lets those under way finish for `graceMs`, then cuts what is left. It never hangs.
 */
import { once } from "node:events";
import { createServer as createHttp1Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from "node:net";
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from "node:tls";
import type { Clock, Logger } from "#base";
import { Http2Connection } from "../http2/index.ts";
import type { HttpHandlers } from "./adapter.ts";

/** As long as clients made with Go keep a connection that they do not use. */
const IDLE_MS = 90_000;
/** For the handshake, and for the first line and the headers of a request. */
const HEADERS_MS = 32_000;

export interface ServingCertificate {
  readonly certPem: string;
  readonly keyPem: string;
  /** Empty: certificates of clients count for nothing. */
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
  /** How long a connection stays open on which nothing is asked. Default: 90 s. */
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
  const http1 = createHttp1Server({ keepAliveTimeout: idleMs, headersTimeout: HEADERS_MS }, handlers.http1);
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
  const doors: TcpServer[] = [];
  try {
    for (const address of alsoAt) doors.push(await openDoor(address, server));
  } catch (error) {
    for (const each of [server, ...doors]) each.close();
    throw error;
  }
  // It has no port of its own, but from here on it looks after connections that send nothing.
  http1.emit("listening");

  return {
    port: (server.address() as AddressInfo).port,
    renew: (next) => server.setSecureContext(tlsOptions(next)),
    async close(graceMs) {
      const closed = Promise.all(
        [server, ...doors].map((each) => new Promise<void>((resolve) => each.close(() => resolve()))),
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

/** The same port at another address: whoever comes in there is handed to the server. */
async function openDoor(host: string, server: TlsServer): Promise<TcpServer> {
  const door = createTcpServer({ noDelay: true }, (socket) => server.emit("connection", socket));
  door.listen((server.address() as AddressInfo).port, host);
  await once(door, "listening");
  return door;
}

function tlsOptions({ certPem, keyPem, clientCaPem }: ServingCertificate) {
  return { cert: certPem, key: keyPem, ca: clientCaPem };
}
