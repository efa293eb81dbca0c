/**
 * Requests to endpoints.
 *
 * 1. Connections are reused for requests that may be repeated: those of idempotent methods without a body. An endpoint
 *    may close an idle connection at the moment when it is used again, and only such a request can then be sent a
 *    second time (RFC 9110, 9.2.2).
 * 2. If the reused connection of such a request ends without a response, the request is sent again on a new one. If a
 *    connection cannot be opened, the next endpoint is tried. Every other failure is final.
 * 3. A body is read from the client only once the connection to the endpoint is open.
 */
import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import type { Readable } from "node:stream";
import { type Clock, LruMap } from "#base";
import type { Endpoint } from "../proxy/endpoints.ts";
import { type BackendTls, tlsOptions } from "./backend-tls.ts";
import { Http2Connections } from "./http2-connections.ts";

export interface Outgoing {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Readable | undefined;
  /** The endpoint speaks HTTP/2 without TLS. Default: HTTP/1.1. */
  readonly http2?: boolean | undefined;
  readonly tls?: BackendTls | undefined;
}

/** The response of an endpoint: its head, and its body to be read. */
export interface Answer extends Readable {
  readonly statusCode?: number | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Complete once the body has ended. */
  readonly trailers: NodeJS.Dict<string>;
  /** It has ended with its head. */
  readonly isEmpty?: boolean;
}

export type Attempt =
  | { readonly kind: "answered"; readonly answer: Answer }
  /** The request was not sent: it may go to another endpoint. */
  | { readonly kind: "unreached"; readonly error: Error }
  | { readonly kind: "failed"; readonly error: Error; readonly inTime: boolean };

/** A reused connection that ended without a response. */
interface Stale {
  readonly kind: "stale";
  readonly error: Error;
}

export interface ConnectionLimits {
  readonly connectMs: number;
  /** From the last byte of a request to the first of its response. */
  readonly answerMs: number;
}

const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);
const IDLE_MS = 30_000;
const MAX_IDLE_PER_ENDPOINT = 64;
const MAX_POLICIES = 1000;
const KEPT = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: MAX_IDLE_PER_ENDPOINT };

export class Connections {
  readonly #kept = new Agent(KEPT);
  readonly #single = new Agent({ keepAlive: false });
  /** By policy: what one policy trusts is not reused under another one. */
  readonly #secure = new LruMap<string, { readonly kept: Agent; readonly single: Agent }>(MAX_POLICIES);
  readonly #http2: Http2Connections;
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;

  constructor(limits: ConnectionLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#http2 = new Http2Connections(limits, clock);
  }

  /** `signal`: aborts when the client disconnects. */
  async send(endpoint: Endpoint, outgoing: Outgoing, signal: AbortSignal): Promise<Attempt> {
    if (outgoing.http2 === true) return this.#http2.send(endpoint, outgoing, signal);
    const isRepeatable = outgoing.body === undefined && IDEMPOTENT.has(outgoing.method);
    const { kept, single } = this.#agentsFor(outgoing.tls);
    const attempt = await this.#send(endpoint, outgoing, isRepeatable ? kept : single, signal);
    if (attempt.kind !== "stale") return attempt;
    const again = await this.#send(endpoint, outgoing, single, signal);
    return again.kind === "stale" ? { kind: "failed", error: again.error, inTime: true } : again;
  }

  #agentsFor(tls: BackendTls | undefined): { readonly kept: Agent; readonly single: Agent } {
    if (tls === undefined) return { kept: this.#kept, single: this.#single };
    const known = this.#secure.get(tls.id);
    if (known !== undefined) return known;
    const made = {
      kept: new SecureAgent({ ...KEPT, ...tlsOptions(tls) }),
      single: new SecureAgent({ keepAlive: false, ...tlsOptions(tls) }),
    };
    this.#secure.set(tls.id, made);
    return made;
  }

  #send(
    { address: host, port }: Endpoint,
    { method, path, headers, body, tls }: Outgoing,
    agent: Agent,
    signal: AbortSignal,
  ): Promise<Attempt | Stale> {
    const asked = { host, port, method, path, headers, agent, signal, setDefaultHeaders: false };
    const sent = tls === undefined ? request(asked) : secureRequest({ ...asked, ...tlsOptions(tls) });
    const ready = tls === undefined ? "connect" : "secureConnect";
    return new Promise<Attempt | Stale>((resolve) => {
      let isConnected = false;
      let inTime = true;
      let isOver = false;
      const late = (what: string) => () => {
        inTime = false;
        sent.destroy(new Error(what));
      };
      let timer = this.#clock.timer(this.#limits.connectMs, late("no connection in time"));
      const end = (attempt: Attempt | Stale) => {
        isOver = true;
        timer.cancel();
        resolve(attempt);
      };
      const connected = () => {
        isConnected = true;
        timer.cancel();
        body?.pipe(sent);
      };
      // Also where a handshake is still to come.
      sent.once("socket", (socket) => (sent.reusedSocket ? connected() : socket.once(ready, connected)));
      sent.once("finish", () => {
        timer.cancel();
        // A response may arrive before the whole request is sent.
        if (isOver) return;
        timer = this.#clock.timer(this.#limits.answerMs, late("no answer in time"));
      });
      sent.once("response", (answer) => end({ kind: "answered", answer }));
      // Failures after the response also surface on its stream.
      sent.on("error", (error) => {
        if (!isConnected) end({ kind: "unreached", error });
        else if (sent.reusedSocket && inTime) end({ kind: "stale", error });
        else end({ kind: "failed", error, inTime });
      });
      if (body === undefined) sent.end();
      else body.once("error", (error) => sent.destroy(error));
    });
  }

  close(): void {
    this.#kept.destroy();
    this.#single.destroy();
    for (const [, { kept, single }] of this.#secure) {
      kept.destroy();
      single.destroy();
    }
    this.#http2.close();
  }
}
