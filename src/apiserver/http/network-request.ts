/** A request that came over the network, as a value. Both versions of HTTP give a method, a target, header fields and a body to read. */
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { requestEntityTooLarge } from "#api";
import type { UserInfo } from "../authn/user.ts";
import type { ApiRequest } from "./exchange.ts";

export interface NetworkRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly source: Readable;
  /** Closes when the caller has gone, or has its answer. */
  readonly peer: Peer;
  readonly user: UserInfo | undefined;
}

interface Peer {
  readonly destroyed: boolean;
  once(event: "close", listener: () => void): unknown;
}

export function apiRequest({ method, target, headers, source, peer, user }: NetworkRequest): ApiRequest {
  const at = target.indexOf("?");
  let signal: AbortSignal | undefined;
  const request = {
    method,
    path: at === -1 ? target : target.slice(0, at),
    query: new URLSearchParams(at === -1 ? undefined : target.slice(at + 1)),
    headers: headers as Record<string, string | undefined>,
    body: (limit: number) => readBody(source, limit),
    get signal() {
      signal ??= signalOf(peer);
      return signal;
    },
  };
  return user === undefined ? request : Object.assign(request, { user });
}

function signalOf(peer: Peer): AbortSignal {
  const gone = new AbortController();
  if (peer.destroyed) gone.abort();
  else peer.once("close", () => gone.abort());
  return gone.signal;
}

/** What lies beyond the limit is read and dropped, so that the caller can be told. */
function readBody(source: Readable, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const cut = () => {
      if (!source.readableEnded) reject(new Error("the caller left before its request was complete"));
    };
    if (source.destroyed) return cut();
    source.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= limit) chunks.push(chunk);
      else reject(requestEntityTooLarge(`limit is ${limit}`));
    });
    source.once("end", () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
    );
    source.once("error", reject);
    source.once("close", cut);
  });
}
