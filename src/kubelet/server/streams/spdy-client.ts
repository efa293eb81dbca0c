/**
 * Streams over one SPDY connection to a container runtime.
 *
 * 1. A stream ends once: with its last byte, with a reset, or with the connection.
 * 2. Runtimes do not use SPDY's flow control: the connection is paused while data is not consumed.
 */
import type { Duplex } from "node:stream";
import { controlFrame, dataFrames, FIN, FrameReader, PING, RST_STREAM, SYN_REPLY, synStream } from "./spdy-frames.ts";

export interface StreamEvents {
  data?(bytes: Buffer): void;
  end?(): void;
}

export interface SpdyStream {
  /** False: wait for `drained` before the next write. */
  write(bytes: Buffer): boolean;
  /** Half-close: reading continues. */
  end(): void;
}

export class SpdyClient {
  readonly #connection: Duplex;
  readonly #streams = new Map<number, StreamEvents>();
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  #nextId = 1;

  constructor(connection: Duplex) {
    this.#connection = connection;
    const reader = new FrameReader();
    connection.on("data", (bytes: Buffer) => {
      for (const frame of reader.read(bytes)) {
        if (!("type" in frame)) this.#data(frame.streamId, frame.flags, frame.payload);
        else if (frame.payload.length >= 4) this.#control(frame.type, frame.flags, frame.payload);
        else connection.destroy(new Error("a frame of SPDY is too short"));
      }
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    // An error is followed by `close`.
    connection.on("error", () => {});
    connection.on("end", () => connection.destroy());
    connection.once("close", () => {
      for (const id of [...this.#streams.keys()]) this.#end(id);
      resolve();
    });
  }

  open(headers: Readonly<Record<string, string>>, events: StreamEvents): SpdyStream {
    const streamId = this.#nextId;
    this.#nextId += 2;
    this.#streams.set(streamId, events);
    this.#connection.write(synStream(streamId, headers, streamId === 1));
    let isEnded = false;
    const send = (payload: Buffer, flags: number): boolean => {
      if (isEnded || this.#connection.destroyed) return true;
      isEnded = flags === FIN;
      this.#connection.cork();
      for (const part of dataFrames({ streamId, flags, payload })) this.#connection.write(part);
      this.#connection.uncork();
      return !this.#connection.writableNeedDrain;
    };
    return {
      write: (bytes) => (bytes.length === 0 ? true : send(bytes, 0)),
      end: () => void send(Buffer.alloc(0), FIN),
    };
  }

  async drained(): Promise<void> {
    if (!this.#connection.writableNeedDrain || this.#connection.destroyed) return;
    await Promise.race([new Promise<void>((resolve) => this.#connection.once("drain", resolve)), this.closed]);
  }

  pause(): void {
    this.#connection.pause();
  }

  resume(): void {
    this.#connection.resume();
  }

  close(): void {
    this.#connection.destroy();
  }

  #control(type: number, flags: number, payload: Buffer): void {
    if (type === PING) {
      // We send no pings: this is the runtime's, to be answered.
      this.#connection.write(controlFrame({ type: PING, flags: 0, payload }));
    } else if (type === RST_STREAM || (type === SYN_REPLY && (flags & FIN) !== 0)) {
      this.#end(payload.readUInt32BE(0) & 0x7fff_ffff);
    }
  }

  #data(streamId: number, flags: number, payload: Buffer): void {
    if (payload.length > 0) this.#streams.get(streamId)?.data?.(payload);
    if ((flags & FIN) !== 0) this.#end(streamId);
  }

  #end(streamId: number): void {
    const stream = this.#streams.get(streamId);
    this.#streams.delete(streamId);
    stream?.end?.();
  }
}
