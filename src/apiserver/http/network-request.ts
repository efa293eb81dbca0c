/** A request from the network as a value, the same for HTTP/1.1 and HTTP/2. */
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { requestEntityTooLarge } from "#api";
import { GrowingBytes } from "#base";
import type { ClientCertificate } from "./client-certificate.ts";
import type { ApiRequest } from "./exchange.ts";

export interface NetworkRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /** Absent where there is no body. */
  readonly source: Readable | undefined;
  /** Closes when the client disconnects, or has its answer. */
  readonly peer: Peer;
  readonly connection: Socket;
  readonly certificate: ClientCertificate | undefined;
  /** It has an `Upgrade` header. */
  readonly isUpgrade?: boolean;
}

interface Peer {
  readonly destroyed: boolean;
  once(event: "close", listener: () => void): unknown;
  off(event: "close", listener: () => void): unknown;
}

/** Shared, and never changed. */
const NO_QUERY = new URLSearchParams();
const NO_BODY = Promise.resolve(Buffer.alloc(0));

export function apiRequest(from: NetworkRequest): ApiRequest {
  return new IncomingRequest(from);
}

class IncomingRequest implements ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawHeaders: readonly string[];
  readonly certificate?: ClientCertificate;
  readonly source?: Readable;
  readonly isUpgrade?: boolean;
  readonly #peer: Peer;
  readonly #connection: Socket;
  #signal: AbortSignal | undefined;

  constructor({
    method,
    target,
    headers,
    rawHeaders,
    source,
    peer,
    connection,
    certificate,
    isUpgrade,
  }: NetworkRequest) {
    const at = target.indexOf("?");
    this.target = target;
    this.method = method;
    this.path = at === -1 ? target : target.slice(0, at);
    this.query = at === -1 ? NO_QUERY : new URLSearchParams(target.slice(at + 1));
    this.headers = headers as Record<string, string | undefined>;
    this.rawHeaders = rawHeaders;
    if (certificate !== undefined) this.certificate = certificate;
    if (isUpgrade === true) this.isUpgrade = true;
    if (source !== undefined) this.source = source;
    this.#peer = peer;
    this.#connection = connection;
  }

  get remoteAddress(): string | undefined {
    return this.#connection.remoteAddress;
  }

  body(limit: number): Promise<Buffer> {
    return this.source === undefined ? NO_BODY : readBody(this.source, limit);
  }

  get signal(): AbortSignal {
    this.#signal ??= signalOf(this.#peer);
    return this.#signal;
  }

  whenGone(call: () => void): () => void {
    const peer = this.#peer;
    if (peer.destroyed) call();
    else peer.once("close", call);
    return () => peer.off("close", call);
  }
}

/** Shared: every asynchronous answer ends with it, and capturing a stack for each would cost more than most answers. */
const GONE = new DOMException("The client has disconnected, or has its answer.", "AbortError");

function signalOf(peer: Peer): AbortSignal {
  const gone = new AbortController();
  if (peer.destroyed) gone.abort(GONE);
  else peer.once("close", () => gone.abort(GONE));
  return gone.signal;
}

/** Bytes beyond the limit are read and dropped, so that the client receives the error. */
function readBody(source: Readable, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Nearly always the only one, and not copied.
    let first: Buffer | undefined;
    let all: GrowingBytes | undefined;
    let bytes = 0;
    const cut = () => {
      if (!source.readableEnded) reject(new Error("the client disconnected before its request was complete"));
    };
    if (source.destroyed) return cut();
    source.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limit) {
        all = undefined;
        reject(requestEntityTooLarge(`limit is ${limit}`));
      } else if (first === undefined) first = chunk;
      else {
        if (all === undefined) {
          all = new GrowingBytes();
          all.append(first);
        }
        all.append(chunk);
      }
    });
    source.on("end", () => resolve(all?.bytes() ?? first ?? Buffer.alloc(0)));
    source.on("error", reject);
    source.on("close", cut);
  });
}
