/**
 * A request and its answer as values: what the pipeline works on, whether it came over TLS or from a component in the
 * same process.
 */
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
  /** Path and query, as sent; absent where they are only known in parts. */
  readonly target?: string;
  /** The address that the request came from; absent where it came from this process. */
  readonly remoteAddress?: string | undefined;
  /** Names in lower case. Values of a header that was sent more than once are joined, or only the first is there. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /**
   * Names and values in turn, as they came over the network: where it matters that a header was sent more than once.
   */
  readonly rawHeaders?: readonly string[];
  /** Read once, at most `limit` bytes: more fails as 413. */
  body(limit: number): Promise<Buffer>;
  /**
   * What the body says in JSON, where the caller is in this process and nobody has to see the body itself: a copy that
   * is the server's own.
   */
  readonly value?: (() => Json) | undefined;
  /** The body as it comes, for who passes it on instead. Absent where it does not come over the network. */
  readonly source?: Readable;
  /** It asks to go on in another protocol, and its connection can: see `StreamResponse.upgrade`. */
  readonly isUpgrade?: boolean;
  /** Aborts when the caller has gone. Made when it is first asked for: most requests do without. */
  readonly signal: AbortSignal;
  /**
   * Calls once when the caller has gone, until the function returned is called. Absent where only `signal` tells: it
   * costs more than a short wait.
   */
  whenGone?(call: () => void): () => void;
  /** Whose request it is: the identity of a component in this process, or what authentication has found out. */
  readonly user?: UserInfo;
  /** What the client has shown of itself to TLS. */
  readonly certificate?: ClientCertificate;
}

export type ApiResponse = WholeResponse | StreamResponse;

/** An answer, or the promise of one: what is known at once is not waited for. */
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
  /** The same answer with other headers, where the body is made on demand: a copy of all properties would make it. */
  withHeaders?(headers: WholeResponse["headers"]): WholeResponse;
}

export interface StreamResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Writes until it returns; the answer ends with it. */
  stream(sink: Sink): Promise<void>;
  /** Takes the connection of a request that asked for it, in both senses, until it returns; instead of `stream`. */
  upgrade?(connection: Duplex): Promise<void>;
}

export interface Sink {
  /**
   * Queues bytes. Returns how many bytes wait to be taken by the network: who writes on past a bound drops the caller.
   */
  write(bytes: Buffer): number;
  /**
   * Takes an event of a watch as it is, where the caller is in this process. Returns how many wait to be taken. Absent:
   * only bytes are.
   */
  event?(type: string, object: object): number;
  /** Cuts the connection and frees what waits for a caller that does not read. */
  drop(): void;
  /** Aborts when the caller has gone. */
  readonly signal: AbortSignal;
}

export function isStream(response: ApiResponse): response is StreamResponse {
  return "stream" in response;
}

/**
 * The same request, once it is known whose it is. What it was known by goes no further. `seeBody` is shown the body
 * when it is read.
 */
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
 * A class, because of its getter: in a literal it would give each request a shape of its own, which is slow, and held
 * until the whole heap is collected.
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
    // Who wants to see the body sees it when it is read.
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

/**
 * Calls once when the caller has gone, at once if it has already. Whoever waits no longer calls the function returned.
 */
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

/** `name` in lower case. */
export function isStandardCredential(name: string): boolean {
  return name === "authorization" || name.startsWith("x-remote-") || name.startsWith("impersonate-");
}
