/**
 * The requests of a connection that are under way: how they begin, and the ways in which they end.
 *
 * 1. A number is a request's once. The last that came and the last that was taken up differ for a connection that closes.
 * 2. Whoever spoils requests pays with the connection's patience, as whoever takes them back does.
 */
import { type ClientEnd, ClosedByClient } from "./closed-by-client.ts";
import { CODE, ConnectionError, FRAME, tooMuch } from "./codes.ts";
import { type Incoming, type Inflow, STREAM_WINDOW } from "./inflow.ts";
import type { Patience } from "./patience.ts";
import { uint32 } from "./payloads.ts";
import type { Sender } from "./sender.ts";
import type { Http2Stream } from "./stream.ts";
import { StreamTable } from "./stream-table.ts";

/** Requests of one connection at a time: watches are requests, too. */
export const MAX_STREAMS = 1_000;

export interface OpenStreamsOptions {
  readonly sender: Sender;
  readonly inflow: Inflow;
  readonly patience: Patience;
  /** One has ended: perhaps the last one. */
  readonly onEnd: () => void;
}

export class OpenStreams {
  readonly #sender: Sender;
  readonly #inflow: Inflow;
  readonly #patience: Patience;
  readonly #onEnd: () => void;
  readonly #table = new StreamTable<Incoming>();
  readonly #closedByClient = new ClosedByClient();
  #lastId = 0;
  #lastTaken = 0;
  #closed = false;

  constructor({ sender, inflow, patience, onEnd }: OpenStreamsOptions) {
    this.#sender = sender;
    this.#inflow = inflow;
    this.#patience = patience;
    this.#onEnd = onEnd;
  }

  get size(): number {
    return this.#table.size;
  }

  get isFull(): boolean {
    return this.#table.size >= MAX_STREAMS;
  }

  /** The last that was taken up. */
  get lastTaken(): number {
    return this.#lastTaken;
  }

  get(id: number): Incoming | undefined {
    return this.#table.get(id);
  }

  values(): readonly Incoming[] {
    return this.#table.values();
  }

  /** No request of the client has had this number. */
  isIdle(id: number): boolean {
    return (id & 1) === 0 || id > this.#lastId;
  }

  /** A new request has this number. False: it came too late. */
  number(id: number): boolean {
    this.#lastId = id;
    if (this.#closed) return false;
    this.#lastTaken = id;
    return true;
  }

  add(stream: Http2Stream, left: number | undefined): void {
    const ended = stream.body === undefined;
    this.#table.set(stream.id, { stream, window: STREAM_WINDOW, owed: 0, left, unread: 0, ended });
  }

  /** None are taken up any more. */
  takeNoMore(): void {
    this.#closed = true;
  }

  /** Somebody has read so much of its body. */
  read(id: number, bytes: number): void {
    const incoming = this.#table.get(id);
    if (incoming !== undefined) this.#inflow.read(incoming, bytes);
  }

  /**
   * A client sends DATA or HEADERS on a closed stream. If it has ended the stream itself that is an error, reported once: the answer
   * is true. If the server has, the frame crossed the server's RST_STREAM and is discarded (RFC 9113, 5.1).
   */
  checkClosed(id: number): boolean {
    const how = this.#closedByClient.take(id);
    if (how === "END_STREAM") throw new ConnectionError(CODE.streamClosed, "a frame after the end of its stream");
    if (how === "RST_STREAM") this.refuse(id, CODE.streamClosed);
    return how !== undefined;
  }

  /** A request that never was one. */
  refuse(id: number, code: number): void {
    if (!this.#patience.bears()) throw tooMuch("requests that are none");
    this.#sender.frame(FRAME.rstStream, 0, id, uint32(code));
  }

  /** A request that has begun and was then spoilt: as cheap for the caller as taking it back. */
  punish(stream: Http2Stream, code: number): void {
    if (!this.#patience.bears()) throw tooMuch("requests that are spoilt");
    this.reset(stream, code);
  }

  /** We give it up. */
  reset(stream: Http2Stream, code: number): void {
    this.#sender.frame(FRAME.rstStream, 0, stream.id, uint32(code));
    this.#remove(stream);
  }

  /** Its caller gives it up. */
  takenBack(stream: Http2Stream): void {
    this.#remove(stream, "RST_STREAM");
    if (!this.#patience.bears()) throw tooMuch("requests that are taken back");
  }

  /** The whole answer is on its way. */
  answered(stream: Http2Stream): void {
    // Nobody reads on: the caller need not send the rest.
    if (this.#table.get(stream.id)?.ended === false)
      this.#sender.frame(FRAME.rstStream, 0, stream.id, uint32(CODE.noError));
    this.#remove(stream);
  }

  /** Nobody is there any more. */
  drop(): void {
    for (const { stream } of this.#table.values()) {
      this.#table.delete(stream.id);
      stream.close();
    }
  }

  #remove(stream: Http2Stream, clientEnd?: ClientEnd): void {
    const incoming = this.#table.get(stream.id);
    if (incoming !== undefined) this.#inflow.drop(incoming);
    const end = clientEnd ?? (incoming?.ended === true ? "END_STREAM" : undefined);
    if (end !== undefined) this.#closedByClient.add(stream.id, end);
    this.#table.delete(stream.id);
    stream.close();
    this.#onEnd();
  }
}
