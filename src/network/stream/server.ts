/**
 * Ports for connections that are passed on without a look at what they carry.
 *
 *     connection ──► TCPRoute of its port ──────────────────────────────► endpoint
 *              └──► name in its ClientHello ──► TLSRoute ──► (TLS ends) ──► endpoint
 *
 * 1. Routes are looked up for each connection, certificates for each handshake: changing them touches no connection.
 * 2. A port is opened and closed as listeners come and go; one that cannot be opened is tried again with each change.
 */
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { type SecureContext, TLSSocket } from "node:tls";
import { type Hello, readHello } from "../http/client-hello.ts";
import { inspect } from "../http/first-bytes.ts";
import type { CertificatePem } from "../http/server.ts";
import { type ForwardOptions, forward } from "./forward.ts";
import type { FindTarget, StreamTarget } from "./target.ts";

export interface StreamServerOptions extends ForwardOptions {
  readonly address: string;
  readonly find: FindTarget;
  readonly certificateOf: (serverName: string) => SecureContext | undefined;
  readonly defaultCertificate: CertificatePem | undefined;
  readonly maxConnections: number;
  readonly onConnections: (by: 1 | -1) => void;
}

const KEEP_ALIVE_MS = 60_000;

export class StreamServer {
  readonly #options: StreamServerOptions;
  readonly #servers = new Map<number, Server>();
  readonly #sockets = new Set<Socket>();

  constructor(options: StreamServerOptions) {
    this.#options = options;
  }

  /** Opens these ports and closes all others. Returns those that cannot be opened, and why. */
  async listen(ports: ReadonlySet<number>): Promise<ReadonlyMap<number, string>> {
    for (const [port, server] of this.#servers) {
      if (ports.has(port)) continue;
      this.#servers.delete(port);
      server.close();
    }
    const problems = new Map<number, string>();
    for (const port of ports) {
      if (this.#servers.has(port)) continue;
      const problem = await this.#open(port);
      if (problem !== undefined) problems.set(port, problem);
    }
    return problems;
  }

  /** Who takes a connection over TLS that came to another server's port, if a TLSRoute does. */
  taker(socket: Socket, port: number, hello: Hello): (() => void) | undefined {
    if (typeof hello === "string") return undefined;
    const target = this.#options.find(port, hello.name);
    if (target === undefined) return undefined;
    return () => this.#take(socket, target);
  }

  /** Connections have `drainMs` to end by themselves. */
  async stop(drainMs: number): Promise<void> {
    const closed = [...this.#servers.values()].map((server) => once(server, "close"));
    for (const server of this.#servers.values()) server.close();
    this.#servers.clear();
    const timer = this.#options.clock.timer(drainMs, () => {
      for (const socket of this.#sockets) socket.destroy();
    });
    await Promise.all(closed);
    timer.cancel();
  }

  async #open(port: number): Promise<string | undefined> {
    const { address, maxConnections, onConnections } = this.#options;
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.#sockets.add(socket);
      onConnections(1);
      socket.once("close", () => {
        this.#sockets.delete(socket);
        onConnections(-1);
      });
      this.#accept(socket, port);
    });
    server.maxConnections = maxConnections;
    server.listen(port, address);
    try {
      await once(server, "listening");
    } catch (error) {
      return `port ${port} cannot be opened: ${error instanceof Error ? error.message : String(error)}`;
    }
    this.#servers.set(port, server);
    return undefined;
  }

  #accept(socket: Socket, port: number): void {
    // Servers of some protocols speak first: nothing is awaited from the client.
    const target = this.#options.find(port, undefined);
    if (target !== undefined) {
      this.#take(socket, target);
      return;
    }
    inspect(
      socket,
      (first) => {
        const hello = readHello(first);
        return hello === "more" ? "wait" : (this.taker(socket, port, hello) ?? "own");
      },
      () => socket.destroy(),
    );
  }

  #take(socket: Socket, target: StreamTarget): void {
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    const { certificateOf, defaultCertificate, log } = this.#options;
    if (!target.endsTls) {
      this.#forward(socket, target);
      return;
    }
    const secure = new TLSSocket(socket, {
      isServer: true,
      minVersion: "TLSv1.2",
      cert: defaultCertificate?.certPem,
      key: defaultCertificate?.keyPem,
      SNICallback: (name, done) => done(null, certificateOf(name)),
    });
    secure.once("secure", () => this.#forward(secure, target));
    secure.on("error", (error) => {
      log.debug("a TLS handshake failed", { route: target.owner, error });
      secure.destroy();
    });
  }

  #forward(client: Socket | TLSSocket, target: StreamTarget): void {
    forward(this.#options, client, target).catch((error: unknown) => {
      this.#options.log.error("a connection could not be forwarded", { route: target.owner, error });
      client.destroy();
    });
  }
}
