/**
 * The frames that go out on a connection.
 *
 *     frames of all streams ──► gathered for a turn of the event loop ──► one write
 *
 * 1. Streams send a frame each in turn, as far as their windows and the connection's allow. A stream that was passed
 *    over because the connection's window was closed is first when it opens.
 * 2. While the socket is congested, answers wait in their streams, where `waiting` shows it. Frames of the protocol
 *    wait here; a client that lets too many of them wait is disconnected.
 */
import type { Duplex } from "node:stream";
import { nextTurn } from "#base";
import { FLAG, FRAME, FRAME_HEAD, INITIAL_WINDOW, MIN_MAX_FRAME } from "./codes.ts";
import { OutputBuffers } from "./output-buffers.ts";
import type { Http2Stream } from "./stream.ts";

/** How much DATA is gathered for one write. */
const GATHERED_BYTES = 256 * 1024;
/** What may wait here for a client that does not read. The heads of a thousand answers are less. */
const MOST_HELD_BYTES = 4 * 1024 * 1024;
const MOST_HELD_FRAMES = 10_000;

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  /** Of its payload. */
  readonly length: number;
  readonly payload: Buffer;
  /** More of the payload. */
  readonly rest?: readonly Buffer[] | undefined;
}

export class Sender {
  readonly #socket: Duplex;
  /** The last frame of the stream's answer has been gathered. */
  readonly #finished: (stream: Http2Stream) => void;
  readonly #buffers: OutputBuffers;
  /** The connection's window. */
  window = INITIAL_WINDOW;
  maxFrame = MIN_MAX_FRAME;
  /** Of DATA, in total. */
  sentBytes = 0;
  #frames: Frame[] = [];
  #bytes = 0;
  /** Streams with something to send, each once. Not a Set: see stream-table.ts. */
  #ready: Http2Stream[] = [];
  #scheduled = false;
  #congested = false;
  #closing = false;
  readonly #flush = () => this.#send();

  constructor(socket: Duplex, finished: (stream: Http2Stream) => void, buffers = new OutputBuffers()) {
    this.#socket = socket;
    this.#finished = finished;
    this.#buffers = buffers;
    socket.on("drain", () => {
      this.#congested = false;
      this.schedule();
    });
  }

  frame(type: number, flags: number, id: number, payload: Buffer): void {
    const { length } = payload;
    this.#frames.push({ type, flags, id, length, payload });
    this.#bytes += FRAME_HEAD + length;
    if (this.#congested && (this.#bytes > MOST_HELD_BYTES || this.#frames.length > MOST_HELD_FRAMES)) this.#giveUp();
    else this.schedule();
  }

  ready(stream: Http2Stream): void {
    if (!stream.isReady) {
      stream.isReady = true;
      this.#ready.push(stream);
    }
    this.schedule();
  }

  /** Sends the gathered frames and no more. `ended`: the socket has taken them. */
  end(ended?: () => void): void {
    this.#closing = true;
    this.#send();
    this.#socket.end(ended);
  }

  /** Schedules a write, once for a turn of the event loop. */
  schedule(): void {
    if (this.#scheduled || this.#closing) return;
    this.#scheduled = true;
    void nextTurn().then(this.#flush);
  }

  #send(): void {
    this.#scheduled = false;
    if (this.#socket.destroyed || this.#socket.writableEnded) return;
    if (!this.#closing) {
      if (this.#congested) return;
      this.#gather();
    }
    if (this.#frames.length === 0) return;
    const buffer = this.#buffers.take(this.#bytes);
    const length = this.#join(buffer);
    if (!this.#socket.write(buffer.subarray(0, length), () => this.#buffers.giveBack(buffer))) this.#congested = true;
    else if (this.#ready.length > 0 && this.window > 0) this.schedule();
  }

  #giveUp(): void {
    this.#frames = [];
    this.#bytes = 0;
    this.#socket.destroy();
  }

  /** A frame of each stream in turn, as long as there is something that may be sent. */
  #gather(): void {
    let more = true;
    while (more && this.#ready.length > 0) {
      const round = this.#ready;
      this.#ready = [];
      more = false;
      let passedOver: Http2Stream[] | undefined;
      for (const stream of round) {
        const frames = this.#frames.length;
        const stays = this.#bytes >= GATHERED_BYTES ? !stream.destroyed : this.#gatherFrom(stream);
        if (!stays) stream.isReady = false;
        else if (this.#frames.length > frames) {
          this.#ready.push(stream);
          more = true;
        } else {
          passedOver ??= [];
          passedOver.push(stream);
        }
      }
      if (passedOver !== undefined) this.#ready = passedOver.concat(this.#ready);
      if (this.#bytes >= GATHERED_BYTES || this.window <= 0) return;
    }
  }

  /**
   * True if the stream has more to send now, or once the connection's window opens. `ready` brings it back when its own
   * window opens.
   */
  #gatherFrom(stream: Http2Stream): boolean {
    if (stream.destroyed) return false;
    const room = Math.min(this.maxFrame, stream.window, this.window);
    if (room <= 0 && stream.waiting > 0) return stream.window > 0;
    const payload = stream.take(room);
    let { length } = payload;
    // Several events of a watch are one frame.
    let rest: Buffer[] | undefined;
    while (length < room && stream.waiting > 0) {
      const part = stream.take(room - length);
      length += part.length;
      rest ??= [];
      rest.push(part);
    }
    if (stream.destroyed) return false;
    const done = stream.isDone;
    if (length === 0 && !done) return false;
    stream.window -= length;
    this.window -= length;
    this.sentBytes += length;
    this.#frames.push({ type: FRAME.data, flags: done ? FLAG.endStream : 0, id: stream.id, length, payload, rest });
    this.#bytes += FRAME_HEAD + length;
    if (done) this.#finished(stream);
    return !done && stream.waiting > 0;
  }

  /** Returns how many bytes the frames take. */
  #join(out: Buffer): number {
    let at = 0;
    for (const { type, flags, id, length, payload, rest } of this.#frames) {
      out[at] = length >>> 16;
      out[at + 1] = length >>> 8;
      out[at + 2] = length;
      out[at + 3] = type;
      out[at + 4] = flags;
      out[at + 5] = id >>> 24;
      out[at + 6] = id >>> 16;
      out[at + 7] = id >>> 8;
      out[at + 8] = id;
      at += FRAME_HEAD;
      out.set(payload, at);
      at += payload.length;
      if (rest === undefined) continue;
      for (const part of rest) {
        out.set(part, at);
        at += part.length;
      }
    }
    this.#frames = [];
    this.#bytes = 0;
    return at;
  }
}
