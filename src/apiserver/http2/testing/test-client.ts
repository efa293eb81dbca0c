/** A client that sends bytes, and shows the frames of the server as lines. */
import { type Duplex, duplexPair } from "node:stream";
import { settled, silentLogger, VirtualClock } from "#base";
import { FRAME, PREFACE } from "../codes.ts";
import { Http2Connection } from "../connection.ts";
import { HeaderDecoder } from "../hpack/index.ts";
import type { Http2Stream } from "../stream.ts";
import { cut, type Frame, lineOf, settings } from "./frames.ts";

/** Of the connections that it opens. */
export const IDLE_MS = 90_000;

export interface TestClientOptions {
  /** Default: requests are kept in `streams` and not answered. */
  readonly onStream?: (stream: Http2Stream) => void;
  /** Reads nothing until `listen`. */
  readonly deaf?: boolean;
}

export class TestClient {
  readonly clock = new VirtualClock();
  readonly streams: Http2Stream[] = [];
  readonly frames: Frame[] = [];
  readonly connection: Http2Connection;
  /** The server's side of the socket. */
  readonly socket: Duplex;
  readonly #own: Duplex;
  readonly #decoder = new HeaderDecoder();
  #lines: string[] = [];
  #rest: Buffer = Buffer.alloc(0);
  /** The server has ended its side. */
  ended = false;

  constructor({ onStream, deaf = false }: TestClientOptions = {}) {
    [this.#own, this.socket] = duplexPair();
    this.connection = new Http2Connection({
      socket: this.socket,
      idleMs: IDLE_MS,
      clock: this.clock,
      log: silentLogger,
      onStream: (stream) => {
        this.streams.push(stream);
        onStream?.(stream);
      },
    });
    this.#own.on("error", () => {});
    this.#own.on("end", () => {
      this.ended = true;
    });
    if (!deaf) this.listen();
  }

  /** After the preface and SETTINGS of both sides. */
  static async greeted(options?: TestClientOptions): Promise<TestClient> {
    const client = new TestClient(options);
    await client.send(PREFACE, settings());
    client.#lines = [];
    return client;
  }

  listen(): void {
    this.#own.on("data", (chunk: Buffer) => this.#hear(chunk));
  }

  /** Reads nothing from now on. */
  deafen(): void {
    this.#own.pause();
  }

  /** The frames that the server has sent since the last call, as lines. */
  get sent(): string[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }

  /** All DATA of one stream. */
  received(id: number): Buffer {
    return Buffer.concat(this.frames.filter((f) => f.type === FRAME.data && f.id === id).map(({ payload }) => payload));
  }

  /** In one piece; then waits until the server is idle. */
  async send(...bytes: readonly Buffer[]): Promise<void> {
    this.#own.write(Buffer.concat(bytes));
    await settled();
  }

  /** Ends the client's side. */
  async hangUp(): Promise<void> {
    this.#own.end();
    await settled();
  }

  /** As if the network had failed. */
  async cut(): Promise<void> {
    this.socket.destroy();
    await settled();
  }

  stream(at = 0): Http2Stream {
    const stream = this.streams[at];
    if (stream === undefined) throw new Error(`there is no request ${at}`);
    return stream;
  }

  #hear(chunk: Buffer): void {
    const { frames, rest } = cut(Buffer.concat([this.#rest, chunk]));
    this.#rest = rest;
    for (const frame of frames) {
      this.frames.push(frame);
      this.#lines.push(lineOf(frame, (block) => this.#decoder.decode(block)?.[1] ?? "?"));
    }
  }
}

/** Answers with the number of bytes received, once the request is complete. */
export function counting(stream: Http2Stream): void {
  let bytes = 0;
  const answer = () => {
    stream.respond(200, {});
    stream.end(Buffer.from(String(bytes)));
  };
  if (stream.body === undefined) answer();
  else
    stream.body
      .on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      })
      .on("end", answer);
}
