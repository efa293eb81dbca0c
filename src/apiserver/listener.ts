/**
 * One TLS port for HTTP/1.1 and HTTP/2.
 *
 * 1. `listen` resolves when the port accepts connections, or rejects with the system's error (EADDRINUSE, EACCES, …).
 * 2. Client certificates are asked for but not demanded: who the caller is, and what follows, is decided in the pipeline.
 * 3. `close` takes no new requests, lets those under way finish for `graceMs`, then cuts what is left. It never hangs.
 */
import { once } from "node:events";
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse, type Http2Session } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { Clock } from "#base";

export type Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

export interface ServingCertificate {
  readonly certPem: string;
  readonly keyPem: string;
  readonly clientCaPem: string;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly certificate: ServingCertificate;
  readonly handler: Handler;
  readonly clock: Clock;
}

export interface Listener {
  readonly port: number;
  /** New connections use this certificate from now on. */
  renew(certificate: ServingCertificate): void;
  close(graceMs: number): Promise<void>;
}

export async function listen({ host, port, certificate, handler, clock }: ListenOptions): Promise<Listener> {
  const server = createSecureServer({
    ...tlsOptions(certificate),
    allowHTTP1: true,
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: "TLSv1.2",
  });
  const sessions = new Set<Http2Session>();
  const sockets = new Set<Socket>();
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("request", handler);

  server.listen(port, host);
  await once(server, "listening");
  const address = server.address() as AddressInfo;

  return {
    port: address.port,
    renew: (next) => server.setSecureContext(tlsOptions(next)),
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.close();
      closeIdleHttp1(server);
      const cut = clock.timer(graceMs, () => {
        for (const socket of sockets) socket.destroy();
      });
      await closed;
      cut.cancel();
    },
  };
}

function tlsOptions({ certPem, keyPem, clientCaPem }: ServingCertificate) {
  return { cert: certPem, key: keyPem, ca: clientCaPem };
}

/** An HTTP/2 server that also speaks HTTP/1 has the method, but its type does not say so. */
function closeIdleHttp1(server: object): void {
  if ("closeIdleConnections" in server && typeof server.closeIdleConnections === "function")
    server.closeIdleConnections();
}
