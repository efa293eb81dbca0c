/**
 * Requests over TLS: HTTP/2 on one session for all of them, or HTTP/1.1 if the server negotiates that.
 *
 *     send ──► session, or a new one ──► stream ──► head of the answer ──► body as it comes
 *
 * 1. A session that ends, gets GOAWAY, or no longer answers pings is replaced by the next request.
 * 2. A request is sent again only if the server cannot have processed it: it refused the stream, or the session had
 *    ended.
 * 3. Connection data are values: callers read kubeconfigs.
 */

import type { IncomingMessage } from "node:http";
import { Agent, request as http1Request } from "node:https";
import { abortable, type Clock } from "#base";
import { Http2Session, type RefusedStream, wasRefused } from "./http2-session.ts";
import { connectTls, type TlsConnection, tlsOptions } from "./tls.ts";
import {
  bodyOf,
  guarded,
  type Transport,
  type TransportRequest,
  type TransportResponse,
  unreachable,
} from "./transport.ts";

export interface HttpsConnection extends TlsConnection {
  /** Sent with every request. */
  readonly token?: string | undefined;
}

type Headers = TransportResponse["headers"];

export interface HttpsOptions {
  readonly clock: Clock;
}

export function https(connection: HttpsConnection, { clock }: HttpsOptions): Transport {
  return new HttpsTransport(connection, clock);
}

class HttpsTransport implements Transport {
  readonly #connection: HttpsConnection;
  readonly #clock: Clock;
  #session: Promise<Http2Session | "http/1.1"> | undefined;
  /** The negotiated connection. */
  #current: Http2Session | undefined;
  #agent: Agent | undefined;
  readonly #sessions = new Set<Http2Session>();
  readonly #closing = new AbortController();

  constructor(connection: HttpsConnection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const { token, server } = this.#connection;
    const headers = token === undefined ? request.headers : { ...request.headers, authorization: `Bearer ${token}` };
    const { value: _, ...others } = request;
    const body = bodyOf(request);
    const asked = { ...others, headers, body };
    try {
      const answer = await this.#once(asked);
      return wasRefused(answer) ? await this.#again(asked, answer) : answer;
    } catch (error) {
      request.ending.throwIfAborted();
      throw unreachable(server, error);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("the client was closed"));
    this.#agent?.destroy();
    await Promise.all([...this.#sessions].map((session) => session.close()));
    await this.#session?.catch(() => {});
  }

  async #again(request: TransportRequest, refused: RefusedStream): Promise<TransportResponse> {
    const answer = await this.#once(request);
    if (wasRefused(answer)) throw refused.cause;
    return answer;
  }

  async #once(request: TransportRequest): Promise<TransportResponse | RefusedStream> {
    this.#closing.signal.throwIfAborted();
    request.ending.throwIfAborted();
    this.#session ??= this.#connect();
    const session = await abortable(this.#session, request.ending);
    return session === "http/1.1" ? this.#http1(request) : session.send(request);
  }

  async #connect(): Promise<Http2Session | "http/1.1"> {
    try {
      const socket = await connectTls(this.#connection, this.#clock, this.#closing.signal);
      if (socket.alpnProtocol !== "h2") {
        socket.destroy();
        this.#agent = new Agent({ keepAlive: true, ...tlsOptions(this.#connection) });
        return "http/1.1";
      }
      const session = new Http2Session(this.#connection.server, socket, this.#clock, () => this.#retire(session));
      this.#sessions.add(session);
      session.closed.then(() => this.#sessions.delete(session)).catch(() => {});
      this.#current = session;
      return session;
    } catch (error) {
      this.#session = undefined;
      throw error;
    }
  }

  /** The next request opens a new session; requests under way stay on this one. */
  #retire(session: Http2Session): void {
    if (this.#current === session) this.#session = undefined;
  }

  #http1({ method, target, headers, body, ending }: TransportRequest): Promise<TransportResponse> {
    const { signal } = ending;
    return new Promise((resolve, reject) => {
      const url = new URL(target, this.#connection.server);
      const where = this.#connection.server;
      const answered = (message: IncomingMessage) => {
        const body = guarded(message, { where, signal, isComplete: () => message.complete });
        resolve({ status: message.statusCode ?? 0, headers: message.headers as Headers, body });
      };
      const call = http1Request(url, { method, headers, agent: this.#agent, signal }, answered);
      call.once("error", reject);
      call.end(body);
    });
  }
}
