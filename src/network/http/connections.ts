/**
 * Requests to endpoints.
 *
 * 1. Connections are kept for requests that may be repeated: those of idempotent methods without a body. An endpoint may close a kept connection
 *    in the moment in which it is used again, and only such a request can then be sent once more (RFC 9110, 9.2.2).
 * 2. Where the connection of such a request ends without an answer, a new one follows; one that cannot be made leads to the next endpoint. Whatever else
 *    fails, fails.
 * 3. A body is read from the client only once there is a connection to send it on.
 */
import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import type { Readable } from "node:stream";
import type { Clock } from "#base";
import type { Endpoint } from "../proxy/endpoints.ts";

export interface Outgoing {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Readable | undefined;
}

export type Attempt =
  | { readonly kind: "answered"; readonly answer: IncomingMessage }
  /** Nothing of it has been carried out: it may go to another endpoint. */
  | { readonly kind: "unreached"; readonly error: Error }
  | { readonly kind: "failed"; readonly error: Error; readonly inTime: boolean };

/** A connection that ended without a word, as a kept one may. */
interface Stale {
  readonly kind: "stale";
  readonly error: Error;
}

export interface ConnectionLimits {
  readonly connectMs: number;
  /** From the last byte of a request to the first of its answer. */
  readonly answerMs: number;
}

const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);
const IDLE_MS = 30_000;
const MAX_IDLE_PER_ENDPOINT = 64;

export class Connections {
  readonly #kept = new Agent({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: MAX_IDLE_PER_ENDPOINT });
  readonly #single = new Agent({ keepAlive: false });
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;

  constructor(limits: ConnectionLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** `signal`: the client has gone. */
  async send(endpoint: Endpoint, outgoing: Outgoing, signal: AbortSignal): Promise<Attempt> {
    const isRepeatable = outgoing.body === undefined && IDEMPOTENT.has(outgoing.method);
    const attempt = await this.#send(endpoint, outgoing, isRepeatable ? this.#kept : this.#single, signal);
    if (attempt.kind !== "stale") return attempt;
    const again = await this.#send(endpoint, outgoing, this.#single, signal);
    return again.kind === "stale" ? { kind: "failed", error: again.error, inTime: true } : again;
  }

  #send(
    { address: host, port }: Endpoint,
    { method, path, headers, body }: Outgoing,
    agent: Agent,
    signal: AbortSignal,
  ): Promise<Attempt | Stale> {
    const sent = request({ host, port, method, path, headers, agent, signal, setDefaultHeaders: false });
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
      sent.once("socket", (socket) => (socket.connecting ? socket.once("connect", connected) : connected()));
      sent.once("finish", () => {
        timer.cancel();
        // An answer may come before all of the request has gone.
        if (isOver) return;
        timer = this.#clock.timer(this.#limits.answerMs, late("no answer in time"));
      });
      sent.once("response", (answer) => end({ kind: "answered", answer }));
      // Also what fails after the answer: its stream tells it to whoever reads it.
      sent.on("error", (error) => {
        if (!isConnected) end({ kind: "unreached", error });
        else if (agent === this.#kept && inTime) end({ kind: "stale", error });
        else end({ kind: "failed", error, inTime });
      });
      if (body === undefined) sent.end();
      else body.once("error", (error) => sent.destroy(error));
    });
  }

  close(): void {
    this.#kept.destroy();
    this.#single.destroy();
  }
}
