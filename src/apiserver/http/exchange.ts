/** Requests and answers as values, the same for clients over TLS and for components in this process. */
import type { Duplex, Readable } from "node:stream";
import type { Json } from "#api";
import type { Maybe } from "#base";
import type { UserInfo } from "../identity/user.ts";
import type { ClientCertificate } from "./client-certificate.ts";
import { withoutTokenProtocol } from "./token-protocol.ts";

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Path and query, as sent. Absent for requests of this process. */
  readonly target?: string;
  /** The address of the client. Absent for requests of this process. */
  readonly remoteAddress?: string | undefined;
  /** Names in lower case. Values of a repeated header are joined, or only the first is kept. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Names and values in turn, as sent: for headers that may be repeated. */
  readonly rawHeaders?: readonly string[];
  /** To be called once. More than `limit` bytes fail with 413. */
  body(limit: number): Promise<Buffer>;
  /** The body as parsed JSON, where the client is in this process. The copy belongs to the server. */
  readonly value?: (() => Json) | undefined;
  /** The body as a stream, for proxies. Absent for requests of this process. */
  readonly source?: Readable;
  /** It has an `Upgrade` header, and its connection can be taken over: see `StreamResponse.upgrade`. */
  readonly isUpgrade?: boolean;
  /** Aborts when the client disconnects. Made on first use: most requests need none. */
  readonly signal: AbortSignal;
  /**
   * Calls once when the client disconnects; the returned function unregisters. Cheaper than `signal`; absent where
   * there is only that.
   */
  whenGone?(call: () => void): () => void;
  /** The identity of a component in this process, or the result of authentication. */
  readonly user?: UserInfo;
  readonly certificate?: ClientCertificate;
}

export type ApiResponse = WholeResponse | StreamResponse;

export type Answering = Maybe<ApiResponse>;

/** Answers a request: the whole pipeline. */
export type Handle = (request: ApiRequest) => Answering;

export interface WholeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Sent one after the other. */
  readonly body: readonly Buffer[];
  /** What the body says, where that is known: a client in this process need not parse it. It is shared. */
  readonly value?: () => object;
  /** The body as gzip, where parts of it are kept compressed. */
  readonly packed?: { readonly plainBytes: number; gzip(): Promise<Buffer> };
  /** The same answer with other headers, where the body is made on demand: a copy of all properties would make it. */
  withHeaders?(headers: WholeResponse["headers"]): WholeResponse;
}

export interface StreamResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Writes until its promise resolves, which ends the answer. */
  stream(sink: Sink): Promise<void>;
  /** Takes over the connection of an upgrade request until its promise resolves, instead of `stream`. */
  upgrade?(connection: Duplex): Promise<void>;
}

export interface Sink {
  /** Queues bytes, and returns how many are queued. Writers drop a client beyond a limit of their own. */
  write(bytes: Buffer): number;
  /** The same for bytes in parts, where they need not be copied together first. */
  writeParts?: ((parts: readonly Buffer[]) => number) | undefined;
  /** Takes a watch event as an object, where the client is in this process. Returns how many are queued. */
  event?(type: string, object: object): number;
  /** Disconnects a client that does not read, and frees its queue. */
  drop(): void;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

export function isStream(response: ApiResponse): response is StreamResponse {
  return "stream" in response;
}

/** The request in the name of `user`, without credentials. `seeBody` is called with the body when it is read. */
export function authenticated(
  request: ApiRequest,
  user: UserInfo,
  isCredential: (header: string) => boolean = isStandardCredential,
  seeBody?: (bytes: Buffer) => void,
): ApiRequest {
  const headers = withoutCredentials(request.headers, isCredential);
  if (request.user === user && headers === request.headers && seeBody === undefined) return request;
  return new AuthenticatedRequest(request, headers, user, seeBody);
}

/**
 * A class, because of its getter: an object literal with a getter has a shape of its own, which is slow and stays in
 * memory.
 */
class AuthenticatedRequest implements ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: ApiRequest["headers"];
  readonly user: UserInfo;
  readonly value?: NonNullable<ApiRequest["value"]>;
  readonly source?: Readable;
  readonly isUpgrade?: boolean;
  readonly #request: ApiRequest;
  readonly #seeBody: ((bytes: Buffer) => void) | undefined;

  constructor(request: ApiRequest, headers: ApiRequest["headers"], user: UserInfo, seeBody?: (bytes: Buffer) => void) {
    const { method, path, query, value, source, isUpgrade } = request;
    this.method = method;
    this.path = path;
    this.query = query;
    this.headers = headers;
    this.user = user;
    // `seeBody` is called when the body itself is read.
    if (value !== undefined && seeBody === undefined) this.value = value;
    if (source !== undefined) this.source = source;
    if (isUpgrade !== undefined) this.isUpgrade = isUpgrade;
    this.#request = request;
    this.#seeBody = seeBody;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  whenGone(call: () => void): () => void {
    return whenGone(this.#request, call);
  }

  body(limit: number): Promise<Buffer> {
    const body = this.#request.body(limit);
    return this.#seeBody === undefined ? body : seen(body, this.#seeBody);
  }
}

/** Calls once when the client disconnects, at once if it has already. The returned function unregisters. */
export function whenGone(request: ApiRequest, call: () => void): () => void {
  if (request.whenGone !== undefined) return request.whenGone(call);
  const { signal } = request;
  if (signal.aborted) call();
  else signal.addEventListener("abort", call, { once: true });
  return () => signal.removeEventListener("abort", call);
}

async function seen(body: Promise<Buffer>, seeBody: (bytes: Buffer) => void): Promise<Buffer> {
  const bytes = await body;
  seeBody(bytes);
  return bytes;
}

const PROTOCOLS = "sec-websocket-protocol";

function withoutCredentials(
  headers: ApiRequest["headers"],
  isCredential: (header: string) => boolean,
): ApiRequest["headers"] {
  let found = false;
  for (const name in headers) found ||= isCredential(name) || name === PROTOCOLS;
  if (!found) return headers;
  const kept: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (!isCredential(name)) kept[name] = name === PROTOCOLS && value ? withoutTokenProtocol(value) : value;
  }
  return kept;
}

/** The headers of credentials that Kubernetes defines. `name` is in lower case. */
export function isStandardCredential(name: string): boolean {
  return name === "authorization" || name.startsWith("x-remote-") || name.startsWith("impersonate-");
}
