/**
 * One connection of the load generator: HTTP over TLS with as little work as possible for each request, so that the
 * server is what is measured: generator and server share the machine. It knows only what benchmarks send, and takes any
 * answer that is a failed Status for an error.
 */
import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";

export interface Target {
  readonly port: number;
  readonly caPem: string;
  readonly certPem: string;
  readonly keyPem: string;
}

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly contentType?: string;
  /** HTTP/2 only: the answer may be compressed. */
  readonly gzip?: boolean;
  /** ASCII. */
  readonly body?: string;
}

export interface Connection {
  /** How many requests it can have under way. */
  readonly width: number;
  /** Calls back with the length of the answer's body. */
  send(call: Call, answered: (bytes: number) => void): void;
  close(): void;
}

export async function openSocket({ port, caPem, certPem, keyPem }: Target, protocol: string): Promise<TLSSocket> {
  const options = { host: "127.0.0.1", port, ca: caPem, cert: certPem, key: keyPem, ALPNProtocols: [protocol] };
  const socket = connect(options);
  await once(socket, "secureConnect");
  socket.setNoDelay(true);
  return socket;
}
