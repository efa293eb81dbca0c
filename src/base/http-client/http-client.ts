/**
 * Requests to other servers: one request, one whole response, over HTTP/1.1 on connections that are kept
 * (docs/adr/0019).
 *
 *     send ──► kept or new connection ──► response, read up to the limit ──► result
 *       └────► deadline, signal or close ──► the connection is cut ────────► failure
 *
 * 1. Every request ends: with its response, its deadline, its signal, or when the body exceeds the limit.
 * 2. Failures are values with their cause. Each caller words them; `httpFailureText` has the words of Go's client.
 * 3. A request that fails on a kept connection before any byte of the response is sent again: the server may have
 *    closed that idle connection at the same moment.
 * 4. After `close` no connection is left and requests under way have failed.
 */
import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from "node:https";
import { isIP } from "node:net";
import { urlToHttpOptions } from "node:url";
import { childController } from "../system/abort.ts";
import type { Clock } from "../system/clock.ts";
import { type Dial, dialedAgents } from "./dial.ts";
import { type NetworkAddress, networkErrorText } from "./network-error.ts";

export interface HttpClientTls {
  /** PEM. The system's own authorities if undefined. */
  readonly ca?: string | undefined;
  /** The client's certificate and key, in PEM. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** The name that the server's certificate must have. The URL's host if undefined. */
  readonly serverName?: string | undefined;
  /** Accepts any certificate. */
  readonly insecure?: boolean | undefined;
}

export interface HttpClientOptions {
  readonly clock: Clock;
  /** The deadline of requests that name none. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  /**
   * What becomes of a longer response: a failure, or a response with the first bytes of its body. Default: a failure.
   */
  readonly longer?: "fail" | "cut" | undefined;
  readonly tls?: HttpClientTls | undefined;
  /** To one address at a time: further requests wait for a connection, within their deadline. Default: any number. */
  readonly maxConnections?: number | undefined;
  /** Idle connections that are kept to one address. Default: 256. */
  readonly maxIdleConnections?: number | undefined;
  /** Opens the connections. Default: plain TCP to the address. */
  readonly dial?: Dial | undefined;
}

export interface HttpRequest {
  /** http or https. Its host is also the header `host`, unless `headers` has that. */
  readonly url: string | URL;
  /** Default: GET, or POST with a body. */
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: Buffer | undefined;
  /** Where to connect, if not to the URL's host: one endpoint of a service, say. */
  readonly address?: NetworkAddress | undefined;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpResponse {
  readonly ok: true;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface HttpFailure {
  readonly ok: false;
  /** `connection`: it could not be made, or broke; `cause` is the error of node:net, node:tls or node:http. */
  readonly reason: "deadline" | "aborted" | "too-large" | "connection";
  /** The signal's reason if that has aborted, else an Error. */
  readonly cause: unknown;
  readonly address: NetworkAddress;
}

export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #plain: HttpAgent;
  readonly #secure: HttpsAgent;
  #underWay = 0;
  #state: "open" | "closing" | "closed" = "open";

  constructor(options: HttpClientOptions) {
    const { tls = {}, maxConnections: maxSockets, maxIdleConnections: maxFreeSockets } = options;
    const { ca, cert, key, insecure = false } = tls;
    const pool = { keepAlive: true, maxSockets, maxFreeSockets };
    this.#options = options;
    const trust = { ca, cert, key, rejectUnauthorized: !insecure };
    const { plain, secure } =
      options.dial === undefined
        ? { plain: new HttpAgent(pool), secure: new HttpsAgent({ ...pool, ...trust }) }
        : dialedAgents(options.dial, pool, trust);
    this.#plain = plain;
    this.#secure = secure;
  }

  /** Never rejects, unless the request itself is malformed: a URL or a header that cannot be sent. */
  async send(request: HttpRequest): Promise<HttpResponse | HttpFailure> {
    const { clock } = this.#options;
    const { signal, timeoutMs = this.#options.timeoutMs } = request;
    const options = this.#requestOptions(request);
    const address = { host: String(options.host), port: Number(options.port) };
    const failure = (reason: HttpFailure["reason"], cause: unknown) => ({ ok: false, reason, cause, address }) as const;
    using ending = childController(signal);
    let isLate = false;
    const timer = clock.timer(timeoutMs, () => {
      isLate = true;
      ending.abort();
    });
    this.#underWay++;
    try {
      for (;;) {
        const { response, mayRetry } = this.#attempt({ ...options, signal: ending.signal }, request.body);
        try {
          return await response;
        } catch (error) {
          if (isLate) return failure("deadline", error);
          if (signal?.aborted) return failure("aborted", signal.reason);
          if (error instanceof TooLarge) return failure("too-large", error);
          if (!mayRetry(error) || this.#state === "closed") return failure("connection", error);
        }
      }
    } finally {
      timer.cancel();
      this.#underWay--;
      if (this.#state !== "open" && this.#underWay === 0) this.close();
    }
  }

  /** Cuts every connection: requests under way fail. */
  close(): void {
    this.#state = "closed";
    this.#plain.destroy();
    this.#secure.destroy();
  }

  /** Closes once no request is under way. */
  closeWhenIdle(): void {
    this.#state = "closing";
    if (this.#underWay === 0) this.close();
  }

  #requestOptions({ url, method, headers, body, address }: HttpRequest): RequestOptions {
    const target = typeof url === "string" ? new URL(url) : url;
    const secure = target.protocol === "https:";
    if (!secure && target.protocol !== "http:") throw new TypeError(`${target.href} is not an http or https URL`);
    const hostname = target.hostname.replace(/^\[|\]$/g, "");
    return {
      ...urlToHttpOptions(target),
      agent: secure ? this.#secure : this.#plain,
      method: method ?? (body === undefined ? "GET" : "POST"),
      host: address?.host ?? hostname,
      hostname: null,
      port: address?.port ?? (target.port === "" ? (secure ? 443 : 80) : Number(target.port)),
      // The name is never derived from the address that a service has resolved to. An address is not a server name.
      servername: this.#options.tls?.serverName ?? (isIP(hostname) === 0 ? hostname : ""),
      headers: {
        host: target.host,
        ...headers,
        ...(body !== undefined && { "content-length": String(body.length) }),
      },
    };
  }

  #attempt(options: RequestOptions, body: Buffer | undefined) {
    const { maxResponseBytes, longer = "fail" } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    const outgoing = options.agent === this.#secure ? httpsRequest(options) : httpRequest(options);
    let isAnswered = false;
    outgoing.on("error", reject);
    outgoing.once("response", (response) => {
      isAnswered = true;
      const { statusCode: status = 0, headers } = response;
      const chunks: Buffer[] = [];
      let bytes = 0;
      const finish = () => resolve({ ok: true, status, headers, body: Buffer.concat(chunks) });
      response.on("data", (chunk: Buffer) => {
        const room = maxResponseBytes - bytes;
        bytes += chunk.length;
        chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
        if (chunk.length <= room) return;
        if (longer === "cut") finish();
        else reject(new TooLarge(maxResponseBytes));
        outgoing.destroy();
      });
      response.on("error", reject);
      response.once("end", finish);
    });
    outgoing.end(body);
    const mayRetry = (error: unknown) => {
      const { code = "" } = error as NodeJS.ErrnoException;
      return outgoing.reusedSocket && !isAnswered && (code === "ECONNRESET" || code === "EPIPE");
    };
    return { response: promise, mayRetry };
  }
}

class TooLarge extends Error {
  constructor(maxBytes: number) {
    super(`the response is larger than ${maxBytes} bytes`);
  }
}

/** As Go's client words it, without the `Get "<url>": ` before. */
export function httpFailureText({ reason, cause, address }: HttpFailure): string {
  if (reason === "deadline") return "context deadline exceeded";
  if (reason === "aborted") return "context canceled";
  if (reason === "too-large") return "http: response body too large";
  return networkErrorText(cause, address);
}
