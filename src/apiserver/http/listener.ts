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
 * 4. A peer that has vanished without a word is noticed by TCP's keep-alive, also while a watch waits for events.
 * 5. `close` accepts no new requests, closes connections as they become idle, and all after `graceMs`. It never
 *    hangs.
 */
import { once } from "node:events";
import { createServer as createHttp1Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Clock, Logger } from "#base";
import { Http2Connection, OutputBuffers } from "../http2/index.ts";
import type { HttpHandlers } from "./adapter.ts";
import { refuseHead } from "./refused-heads.ts";
import { type ServingCertificate, TlsServers, type TlsSettings } from "./tls-servers.ts";

/** The idle timeout of Go clients. */
const IDLE_MS = 90_000;
/** For the TLS handshake, and for the head of a request. */
const HEADERS_MS = 32_000;
/** As in kube-apiserver. */
const KEEP_ALIVE_MS = 3 * 60_000;
/** As Go's servers take: the command of an exec is a part of the URL. */
const MAX_HEADER_BYTES = 1024 * 1024;

/** How connections are opened, where it differs from the defaults. */
export interface ConnectionSettings {
  readonly tls?: TlsSettings | undefined;
  readonly http2?: Http2Settings | undefined;
  /** Other processes may listen on the same address and port (SO_REUSEPORT). */
  readonly sharedPort?: boolean | undefined;
}

export interface Http2Settings {
  /** Only HTTP/1.1 is offered. */
  readonly disabled?: boolean | undefined;
  /** Open requests of one connection. Default: 1,000. */
  readonly maxStreams?: number | undefined;
  /** Asked for each request: whether the client shall open another connection for the next one. Default: never. */
  readonly goesAway?: (() => boolean) | undefined;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Addresses besides `host` at which the same port is open. */
  readonly alsoAt?: readonly string[] | undefined;
  readonly certificate: ServingCertificate;
  readonly connections?: ConnectionSettings | undefined;
  readonly handlers: HttpHandlers;
  /** A TLS handshake has failed. */
  readonly onHandshakeError?: (() => void) | undefined;
  /** The idle timeout of connections. Default: 90 s. */
  readonly idleMs?: number;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Listener {
  readonly port: number;
  /** New connections use this certificate from now on. */
  renew(certificate: ServingCertificate): void;
  /**
   * Opens the same port at one more address of this machine. What it returns ends that: requests under way on its
   * connections have `graceMs`.
   */
  openAt(address: string): Promise<(graceMs: number) => Promise<void>>;
  /** Asks clients with HTTP/2 to open other connections for their next requests: those that are chosen. */
  retire(isChosen: () => boolean): void;
  /** Accepts no new connections, and no new requests of HTTP/2. Requests under way go on. */
  refuse(): void;
  close(graceMs: number): Promise<void>;
}

export async function listen(options: ListenOptions): Promise<Listener> {
  const { host, port, alsoAt = [], certificate, handlers, idleMs = IDLE_MS, clock, log } = options;
  const { onHandshakeError = () => {} } = options;
  const { tls = {}, http2 = {}, sharedPort = false } = options.connections ?? {};
  const http1 = createHttp1Server(
    { keepAliveTimeout: idleMs, headersTimeout: HEADERS_MS, maxHeaderSize: MAX_HEADER_BYTES },
    handlers.http1,
  );
  http1.on("upgrade", handlers.upgrade);
  http1.on("clientError", (error, socket) => refuseHead(error, socket as Socket, clock));
  const connections = new Map<Http2Connection, TLSSocket>();
  const buffers = new OutputBuffers();
  const openHttp2 = (socket: TLSSocket) => {
    const connection: Http2Connection = new Http2Connection({
      socket,
      onStream: (stream) => {
        if (http2.goesAway?.() === true) connection.retire();
        handlers.http2(stream, socket);
      },
      maxStreams: http2.maxStreams,
      buffers,
      idleMs,
      clock,
      log,
    });
    connections.set(connection, socket);
    socket.once("close", () => connections.delete(connection));
  };
  const secure = new TlsServers({
    certificate,
    settings: tls,
    ALPNProtocols: http2.disabled === true ? ["http/1.1"] : ["h2", "http/1.1"],
    handshakeTimeout: HEADERS_MS,
    onFailure: () => onHandshakeError(),
    onConnection: (socket) => {
      if (socket.alpnProtocol === "h2") openHttp2(socket);
      else http1.emit("connection", socket);
    },
  });
  const sockets = new Set<Socket>();
  const accept = (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    secure.accept(socket);
  };

  const first = await openAddress({ host, port, sharedPort, accept });
  const { port: opened } = first.address() as AddressInfo;
  const listeners = new Set([first]);
  try {
    for (const each of alsoAt) listeners.add(await openAddress({ host: each, port: opened, sharedPort, accept }));
  } catch (error) {
    for (const each of listeners) each.close();
    throw error;
  }
  // This server does not listen itself. The event starts its check for connections that time out.
  http1.emit("listening");

  let closed: Promise<unknown> | undefined;
  // A connection that was busy when the listener closed is idle afterwards, and its client might keep it for long.
  const answered = () => {
    if (closed !== undefined) http1.closeIdleConnections();
  };
  http1.on("request", (_, response) => response.once("close", answered));
  const refuse = () => {
    const close = (each: TcpServer) => new Promise<void>((resolve) => each.close(() => resolve()));
    closed ??= Promise.all([...listeners].map(close));
    for (const connection of connections.keys()) connection.close();
    http1.close();
    return closed;
  };

  return {
    port: opened,
    renew: (next) => secure.renew(next),
    async openAt(address) {
      // A server that listens on all addresses has this one, too.
      const own = isAnyAddress(host)
        ? undefined
        : await openAddress({ host: address, port: opened, sharedPort, accept });
      if (own !== undefined) listeners.add(own);
      return async (graceMs) => {
        if (own !== undefined && listeners.delete(own)) own.close();
        for (const [connection, socket] of connections) if (localOf(socket) === address) connection.close();
        const open = () => [...sockets].filter((socket) => localOf(socket) === address);
        if (open().length > 0) await clock.sleep(graceMs);
        for (const socket of open()) socket.destroy();
      };
    },
    retire: (isChosen) => {
      for (const [connection] of connections) if (isChosen()) connection.retire();
    },
    refuse: () => void refuse(),
    async close(graceMs) {
      const ended = refuse();
      const cut = clock.timer(graceMs, () => {
        for (const socket of sockets) socket.destroy();
      });
      await ended;
      cut.cancel();
    },
  };
}

/** A port on all addresses of both families sees those of IPv4 as a part of IPv6. */
function localOf({ localAddress = "" }: Socket): string {
  return localAddress.replace(/^::ffff:/, "");
}

function isAnyAddress(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

interface Opening {
  readonly host: string;
  readonly port: number;
  readonly sharedPort: boolean;
  accept(socket: Socket): void;
}

async function openAddress({ host, port, sharedPort, accept }: Opening): Promise<TcpServer> {
  const listener = createTcpServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS }, accept);
  listener.listen({ host, port, reusePort: sharedPort });
  await once(listener, "listening");
  return listener;
}
