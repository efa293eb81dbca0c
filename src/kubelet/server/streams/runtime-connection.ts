/** A connection to the URL at which a runtime serves a stream, upgraded to SPDY. */
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { request as secureRequest } from "node:https";
import type { Duplex } from "node:stream";

const PROTOCOLS = "x-stream-protocol-version";
const TIMEOUT_MS = 30_000;
export const SPDY = "SPDY/3.1";

export interface RuntimeConnection {
  readonly response: IncomingMessage;
  /** Undefined if the runtime has declined; the response says why. */
  readonly connection?: Duplex;
}

/** Requests one of the protocols, in order of preference. */
export function dialRuntime(
  url: string,
  protocols: readonly string[],
  signal: AbortSignal,
): Promise<RuntimeConnection> {
  const { promise, resolve, reject } = Promise.withResolvers<RuntimeConnection>();
  const { protocol, hostname, port, pathname, search } = new URL(url);
  const ask = protocol === "https:" ? secureRequest : request;
  const asked = ask({
    host: hostname,
    port,
    path: `${pathname}${search}`,
    method: "POST",
    headers: { connection: "Upgrade", upgrade: SPDY, "content-length": "0", [PROTOCOLS]: [...protocols] },
    signal,
    agent: false,
    timeout: TIMEOUT_MS,
  });
  asked.once("upgrade", (response, connection, head) => {
    connection.setTimeout(0);
    connection.on("error", () => {});
    connection.setNoDelay(true);
    if (head.length > 0) connection.unshift(head);
    resolve({ response, connection });
  });
  asked.once("response", (response) => resolve({ response }));
  asked.once("timeout", () => asked.destroy(new Error("the runtime does not answer")));
  // Later errors are seen on the connection.
  asked.on("error", reject);
  asked.end();
  return promise;
}

/** The protocols that the client offers, in its order. */
export function namedProtocols(headers: IncomingHttpHeaders): readonly string[] {
  const named = headers[PROTOCOLS];
  return (typeof named === "string" ? named : (named ?? []).join())
    .split(",")
    .map((each) => each.trim())
    .filter(Boolean);
}
