/** A TLS connection to an API server: authorities, client certificate, and the negotiated version of HTTP. */
import { isIP } from "node:net";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import type { Clock } from "#base";

const CONNECT_MS = 30_000;

export interface TlsConnection {
  /** Such as https://127.0.0.1:6443. */
  readonly server: string;
  /** The system's own authorities if undefined. */
  readonly caPem?: string | undefined;
  readonly certPem?: string | undefined;
  readonly keyPem?: string | undefined;
  /** The name that the server's certificate must have, instead of the host. */
  readonly tlsServerName?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
}

export function tlsOptions({
  server,
  caPem,
  certPem,
  keyPem,
  tlsServerName,
  insecureSkipTlsVerify,
}: TlsConnection): ConnectionOptions {
  const host = hostOf(server);
  const name = tlsServerName ?? (isIP(host) === 0 ? host : undefined);
  return {
    ca: caPem,
    cert: certPem,
    key: keyPem,
    servername: name,
    rejectUnauthorized: insecureSkipTlsVerify !== true,
  };
}

export function connectTls(connection: TlsConnection, clock: Clock, signal: AbortSignal): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(connection.server);
    const socket = connect({
      ...tlsOptions(connection),
      host: hostOf(connection.server),
      port: port === "" ? 443 : Number(port),
      ALPNProtocols: ["h2", "http/1.1"],
    });
    const fail = (error: unknown) => {
      settle();
      socket.destroy();
      reject(error);
    };
    const abort = () => fail(signal.reason);
    const timer = clock.timer(CONNECT_MS, () => fail(new Error(`no connection within ${CONNECT_MS / 1000} seconds`)));
    const settle = () => {
      timer.cancel();
      signal.removeEventListener("abort", abort);
      socket.removeListener("error", fail);
    };
    signal.addEventListener("abort", abort, { once: true });
    socket.once("error", fail);
    socket.once("secureConnect", () => {
      settle();
      socket.setNoDelay(true);
      resolve(socket);
    });
  });
}

function hostOf(server: string): string {
  return new URL(server).hostname.replace(/^\[|\]$/g, "");
}
