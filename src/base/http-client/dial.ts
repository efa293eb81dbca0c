/**
 * Opens the connections that requests travel on, where that is not a plain TCP connection to their address: through a
 * proxy, say. TLS to the server itself is spoken on what it returns.
 */
import { type AgentOptions, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Duplex } from "node:stream";
import { type ConnectionOptions, connect } from "node:tls";
import type { NetworkAddress } from "./network-error.ts";

/** Rejects with an error that says why, within a time of its own. */
export type Dial = (address: NetworkAddress) => Promise<Duplex>;

/** What Node's agents pass on: the options of the request and of the agent. */
type Wanted = ConnectionOptions & { readonly host?: string | undefined; readonly port?: number | undefined };
type Made = (error: Error | null, stream?: Duplex) => void;

/** Agents whose connections `dial` opens. */
export function dialedAgents(dial: Dial, pool: AgentOptions, tls: ConnectionOptions) {
  const plain = new HttpAgent(pool);
  const secure = new HttpsAgent({ ...pool, ...tls });
  plain.createConnection = creator(dial, (stream) => stream);
  secure.createConnection = creator(dial, secured);
  return { plain, secure };
}

/** A TLS connection on a stream that is open. */
export function secured(socket: Duplex, { servername, ...options }: ConnectionOptions) {
  return connect({ ...options, socket, path: undefined, ...(servername !== "" && { servername }) });
}

function creator(dial: Dial, over: (stream: Duplex, options: Wanted) => Duplex) {
  return (options: object, callback?: (error: Error | null, stream: Duplex) => void): undefined => {
    const wanted = options as Wanted;
    // Without a stream, the error counts.
    const made = callback as Made | undefined;
    dial({ host: wanted.host ?? "", port: Number(wanted.port) }).then(
      (stream) => made?.(null, over(stream, wanted)),
      (error: Error) => made?.(error),
    );
  };
}
