/**
 * One HTTP/2 session, for requests and watches side by side.
 *
 * 1. `retired` is called once, when it should get no more requests: it ended, got GOAWAY, or a ping was not answered.
 * 2. A lost peer is detected by pings, which are sent only while requests are under way.
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { Clock, Timer } from "#base";
import { guarded, type TransportRequest, type TransportResponse } from "./transport.ts";

const PING_MS = 30_000;
const PONG_MS = 15_000;

/** The server has not processed the request: it may be sent again. */
export interface RefusedStream {
  readonly refused: true;
  readonly cause: unknown;
}

export function wasRefused(answer: TransportResponse | RefusedStream): answer is RefusedStream {
  return "refused" in answer;
}

export class Http2Session {
  /** Resolves when the session is gone. */
  readonly closed: Promise<void>;
  readonly #server: string;
  readonly #session: ClientHttp2Session;
  readonly #clock: Clock;
  #streams = 0;
  #ping: Timer | undefined;

  constructor(server: string, socket: TLSSocket, clock: Clock, retired: () => void) {
    this.#server = server;
    this.#clock = clock;
    this.#session = connect(server, { createConnection: () => socket });
    this.closed = new Promise((resolve) => this.#session.once("close", resolve));
    this.#session.once("goaway", retired);
    this.#session.once("close", () => {
      this.#ping?.cancel();
      retired();
    });
    // Requests see errors on their streams.
    this.#session.on("error", () => {});
  }

  send({ method, target, headers, body, ending }: TransportRequest): Promise<TransportResponse | RefusedStream> {
    const { signal } = ending;
    return new Promise((resolve, reject) => {
      if (this.#session.closed || this.#session.destroyed) {
        resolve({ refused: true, cause: new Error("the session has ended") });
        return;
      }
      const stream = this.#session.request(
        { ":method": method, ":path": target, ...headers },
        { endStream: body === undefined },
      );
      this.#opened(stream);
      const abort = () => {
        stream.close(constants.NGHTTP2_CANCEL);
        reject(signal.reason);
      };
      signal.addEventListener("abort", abort, { once: true });
      stream.once("close", () => {
        signal.removeEventListener("abort", abort);
        reject(new Error("the connection was lost before an answer came"));
      });
      stream.on("error", (error) => {
        if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) resolve({ refused: true, cause: error });
        else reject(error);
      });
      stream.once("response", (head) => {
        // A lost session emits "end" on its streams like a regular end, but destroys them first.
        let isComplete = false;
        stream.once("end", () => {
          isComplete = !stream.destroyed && stream.rstCode === constants.NGHTTP2_NO_ERROR;
        });
        const answer = guarded(stream, { where: this.#server, signal, isComplete: () => isComplete });
        resolve({ status: Number(head[":status"]), headers: head as TransportResponse["headers"], body: answer });
      });
      if (body !== undefined) stream.end(body);
    });
  }

  /** Ends at once: open streams fail. */
  async close(): Promise<void> {
    this.#session.destroy();
    await this.closed;
  }

  #opened(stream: ClientHttp2Stream): void {
    if (this.#streams++ === 0) this.#pingLater();
    stream.once("close", () => {
      if (--this.#streams === 0) this.#ping?.cancel();
    });
  }

  #pingLater(): void {
    this.#ping?.cancel();
    this.#ping = this.#clock.timer(PING_MS, () => {
      const dead = this.#clock.timer(PONG_MS, () => this.#session.destroy(new Error("the server answers no pings")));
      this.#ping = dead;
      const asked = this.#session.ping(() => {
        dead.cancel();
        if (this.#streams > 0 && !this.#session.destroyed) this.#pingLater();
      });
      if (!asked) dead.cancel();
    });
  }
}
