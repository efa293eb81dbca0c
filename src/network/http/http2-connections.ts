/**
 * Requests to endpoints over HTTP/2, which gRPC needs: over TLS where a policy asks for it, else without (h2c with
 * prior knowledge). One connection to each endpoint carries many requests.
 *
 * 1. A request that the endpoint has not processed may go to another one; every other failure is final.
 * 2. A response without a body is passed on as such: gRPC puts its status into the head of one.
 * 3. Requests of gRPC have no limit for the first byte of their response: a stream may be silent for long.
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2";
import type { Clock } from "#base";
import type { Endpoint } from "../proxy/endpoints.ts";
import { type BackendTls, tlsOptions } from "./backend-tls.ts";
import type { Answer, Attempt, ConnectionLimits, Outgoing } from "./connections.ts";

const IDLE_MS = 60_000;
/** RFC 9113, 8.2.2: they belong to connections of HTTP/1.1. */
const OF_HTTP1 = new Set(["host", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);

export function isGrpc(headers: { readonly "content-type"?: unknown }): boolean {
  return /^application\/grpc\b/.test(String(headers["content-type"] ?? ""));
}

export class Http2Connections {
  readonly #sessions = new Map<string, ClientHttp2Session>();
  readonly #opening = new Map<string, Promise<ClientHttp2Session | Error>>();
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;

  constructor(limits: ConnectionLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  async send(endpoint: Endpoint, outgoing: Outgoing, signal: AbortSignal): Promise<Attempt> {
    const session = await this.#sessionTo(endpoint, outgoing.tls);
    if (session instanceof Error) return { kind: "unreached", error: session };
    if (signal.aborted) return { kind: "failed", error: new Error("the client has disconnected"), inTime: true };
    const { body } = outgoing;
    let stream: ClientHttp2Stream;
    try {
      stream = session.request(headersOf(outgoing), { endStream: body === undefined });
    } catch (error) {
      return { kind: "unreached", error: error as Error };
    }
    return this.#answerOf(stream, outgoing, signal);
  }

  close(): void {
    for (const session of this.#sessions.values()) session.destroy();
    this.#sessions.clear();
  }

  #answerOf(stream: ClientHttp2Stream, { body, headers }: Outgoing, signal: AbortSignal): Promise<Attempt> {
    return new Promise((resolve) => {
      let inTime = true;
      let isOver = false;
      const leave = () => stream.close(constants.NGHTTP2_CANCEL);
      signal.addEventListener("abort", leave, { once: true });
      stream.once("close", () => signal.removeEventListener("abort", leave));
      const late = () => {
        inTime = false;
        stream.destroy(new Error("no answer in time"));
      };
      let timer = this.#clock.timer(0, () => {});
      const end = (attempt: Attempt) => {
        isOver = true;
        timer.cancel();
        resolve(attempt);
      };
      const sent = () => {
        if (!isOver && !isGrpc(headers)) timer = this.#clock.timer(this.#limits.answerMs, late);
      };
      stream.once("response", (received, flags) => {
        const isEmpty = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
        end({ kind: "answered", answer: answerOf(stream, received, isEmpty) });
      });
      // Failures after the response also surface on its stream.
      stream.on("error", (error) => {
        const isRefused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
        end(isRefused && body === undefined ? { kind: "unreached", error } : { kind: "failed", error, inTime });
      });
      stream.once("close", () => end({ kind: "failed", error: new Error("the stream was closed"), inTime }));
      if (body === undefined) sent();
      else {
        stream.once("finish", sent);
        body.pipe(stream);
        body.once("error", leave);
      }
    });
  }

  async #sessionTo({ address, port }: Endpoint, tls: BackendTls | undefined): Promise<ClientHttp2Session | Error> {
    const authority = address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
    const key = `${authority} ${tls?.id ?? ""}`;
    const known = this.#sessions.get(key);
    if (known !== undefined && !known.closed && !known.destroyed) return known;
    const opening = this.#opening.get(key) ?? this.#open(key, authority, tls).finally(() => this.#opening.delete(key));
    this.#opening.set(key, opening);
    return opening;
  }

  async #open(key: string, authority: string, tls: BackendTls | undefined): Promise<ClientHttp2Session | Error> {
    const session =
      tls === undefined ? connect(`http://${authority}`) : connect(`https://${authority}`, tlsOptions(tls));
    const forget = () => {
      if (this.#sessions.get(key) === session) this.#sessions.delete(key);
    };
    session.once("close", forget).once("goaway", forget);
    const { promise, resolve } = Promise.withResolvers<ClientHttp2Session | Error>();
    const timer = this.#clock.timer(this.#limits.connectMs, () => {
      session.destroy();
      resolve(new Error("no connection in time"));
    });
    session.once("connect", () => resolve(session));
    session.on("error", resolve);
    const outcome = await promise;
    timer.cancel();
    if (outcome === session) {
      this.#sessions.set(key, session);
      session.setTimeout(IDLE_MS, () => session.close());
    }
    return outcome;
  }
}

function headersOf({ method, path, headers, tls }: Outgoing): OutgoingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => !OF_HTTP1.has(name.toLowerCase()));
  return {
    ":method": method,
    ":path": path,
    ":scheme": tls === undefined ? "http" : "https",
    ":authority": String(headers.host ?? ""),
    ...Object.fromEntries(kept),
  };
}

function answerOf(stream: ClientHttp2Stream, received: IncomingHttpHeaders, isEmpty: boolean): Answer {
  const headers = Object.fromEntries(Object.entries(received).filter(([name]) => !name.startsWith(":")));
  const answer = Object.assign(stream, {
    ...{ statusCode: Number(received[":status"]), headers, isEmpty },
    trailers: {} as NodeJS.Dict<string>,
  });
  stream.once("trailers", (trailers) => Object.assign(answer.trailers, trailers));
  return answer;
}
