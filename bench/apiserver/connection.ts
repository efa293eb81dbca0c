/**
 * One connection of the load generator: HTTP over TLS with as little work as possible for each request, so that the server is what is
 * measured. It knows only what benchmarks send, and takes any answer that is a failed Status for an error.
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
  readonly body?: string;
}

export interface Connection {
  /** Resolves to the length of the answer's body. */
  send(call: Call): Promise<number>;
  close(): void;
}

const STATUS = Buffer.from('{"kind":"Status"');
const FAILURE = '"status":"Failure"';

export async function openSocket({ port, caPem, certPem, keyPem }: Target, protocol: string): Promise<TLSSocket> {
  const options = { host: "127.0.0.1", port, ca: caPem, cert: certPem, key: keyPem, ALPNProtocols: [protocol] };
  const socket = connect(options);
  await once(socket, "secureConnect");
  socket.setNoDelay(true);
  return socket;
}

/** Throws if the beginning of an answer says that the request failed. */
export function checkAnswer(start: Buffer, call: Call): void {
  if (start.length < STATUS.length || start.compare(STATUS, 0, STATUS.length, 0, STATUS.length) !== 0) return;
  if (start.includes(FAILURE)) throw new Error(`${call.method} ${call.path}: ${start.toString("utf8")}`);
}
