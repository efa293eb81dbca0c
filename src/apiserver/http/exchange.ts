/**
 * A request and its answer as values: what the pipeline works on, whether it came over TLS or from a component in the same process.
 */
import type { UserInfo } from "../authn/user.ts";

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Read once, at most `limit` bytes: more fails as 413. */
  body(limit: number): Promise<Buffer>;
  /** Aborts when the caller has gone. Made when it is first asked for: most requests do without. */
  readonly signal: AbortSignal;
  /** Verified by the transport: a client certificate, or the identity of a component in this process. */
  readonly user?: UserInfo;
}

export type ApiResponse = WholeResponse | StreamResponse;

export interface WholeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Sent one after the other. */
  readonly body: readonly Buffer[];
}

export interface StreamResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Writes until it returns; the answer ends with it. */
  stream(sink: Sink): Promise<void>;
}

export interface Sink {
  /** Queues bytes. Returns how many bytes wait to be taken by the network: who writes on past a bound drops the caller. */
  write(bytes: Buffer): number;
  /** Cuts the connection and frees what waits for a caller that does not read. */
  drop(): void;
  /** Aborts when the caller has gone. */
  readonly signal: AbortSignal;
}

export function isStream(response: ApiResponse): response is StreamResponse {
  return "stream" in response;
}

/** The same request, once it is known whose it is. */
export function authenticated(request: ApiRequest, user: UserInfo): ApiRequest {
  if (request.user === user) return request;
  const { method, path, query, headers } = request;
  return {
    method,
    path,
    query,
    headers,
    user,
    body: (limit) => request.body(limit),
    get signal() {
      return request.signal;
    },
  };
}
