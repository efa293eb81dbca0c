/** A SPDY server like a runtime's: accepts streams and decompresses their headers. */
import type { Duplex } from "node:stream";
import { constants, inflateSync } from "node:zlib";
import { controlFrame, dataFrames, FIN, FrameReader, SYN_REPLY, SYN_STREAM, uint32 } from "../streams/spdy-frames.ts";

export interface ServedStream {
  readonly id: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly received: string;
  /** The client has half-closed the stream. */
  readonly isEnded: boolean;
  write(text: string): void;
  end(): void;
}

type Mutable = { -readonly [Key in keyof ServedStream]: ServedStream[Key] };

export class SpdyServer {
  readonly streams: ServedStream[] = [];
  /** Resolves when the client disconnects. */
  readonly closed: Promise<void>;
  readonly #connection: Duplex;
  readonly #onChange: (server: SpdyServer) => void;
  #packed: Buffer = Buffer.alloc(0);
  #unpackedBytes = 0;

  constructor(connection: Duplex, onChange: (server: SpdyServer) => void) {
    this.#connection = connection;
    this.#onChange = onChange;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    connection.once("close", () => resolve());
    connection.once("end", () => connection.end());
    const reader = new FrameReader();
    connection.on("error", () => {});
    connection.on("data", (bytes: Buffer) => {
      for (const frame of reader.read(bytes)) {
        if ("type" in frame) {
          if (frame.type === SYN_STREAM) this.#opened(frame.payload);
        } else {
          const stream = this.streams.find(({ id }) => id === frame.streamId) as Mutable;
          stream.received += frame.payload.toString();
          stream.isEnded ||= (frame.flags & FIN) !== 0;
        }
        this.#onChange(this);
      }
    });
  }

  stream(type: string): ServedStream | undefined {
    return this.streams.find(({ headers }) => headers.streamtype === type);
  }

  raw(bytes: Buffer): void {
    this.#connection.write(bytes);
  }

  close(): void {
    this.#connection.end();
  }

  #opened(payload: Buffer): void {
    const id = payload.readUInt32BE(0);
    const send = (text: string, flags: number) => {
      const frames = dataFrames({ streamId: id, flags, payload: Buffer.from(text) });
      this.#connection.write(Buffer.concat(frames));
    };
    this.streams.push({
      id,
      headers: this.#headers(payload.subarray(10)),
      received: "",
      isEnded: false,
      write: (text) => send(text, 0),
      end: () => send("", FIN),
    });
    this.#connection.write(controlFrame({ type: SYN_REPLY, flags: 0, payload: uint32(id) }));
  }

  /** One zlib stream for the connection. */
  #headers(packed: Buffer): Record<string, string> {
    this.#packed = Buffer.concat([this.#packed, packed]);
    const all = inflateSync(this.#packed, { finishFlush: constants.Z_SYNC_FLUSH });
    const block = all.subarray(this.#unpackedBytes);
    this.#unpackedBytes = all.length;
    const headers: Record<string, string> = {};
    let at = 4;
    const next = () => {
      const length = block.readUInt32BE(at);
      at += 4 + length;
      return block.toString("utf8", at - length, at);
    };
    for (let left = block.readUInt32BE(0); left > 0; left--) headers[next()] = next();
    return headers;
  }
}
