/**
 * The open requests of a connection: how they begin and end.
 *
 * 1. A stream number is used once. While a connection closes, the last number received and the last one accepted
 *    differ.
 * 2. Malformed and cancelled requests count as possible abuse.
 */

import type { AbuseBudget } from "./abuse-budget.ts";
import { type ClientEnd, ClosedByClient } from "./closed-by-client.ts";
import { CODE, ConnectionError, FRAME, tooMuch } from "./codes.ts";
import { type Incoming, type Inflow, STREAM_WINDOW } from "./inflow.ts";
import { uint32 } from "./payloads.ts";
import type { Sender } from "./sender.ts";
import type { Http2Stream } from "./stream.ts";
import { StreamTable } from "./stream-table.ts";

/** Open requests of one connection, watches included, where nothing else is set. */
export const MAX_STREAMS = 1_000;

export interface OpenStreamsOptions {
  readonly sender: Sender;
  readonly inflow: Inflow;
  readonly abuse: AbuseBudget;
  readonly maxStreams: number;
  /** A request has ended. */
  readonly onEnd: () => void;
}

export class OpenStreams {
  readonly #sender: Sender;
  readonly #inflow: Inflow;
  readonly #abuse: AbuseBudget;
  readonly #maxStreams: number;
  readonly #onEnd: () => void;
  readonly #table = new StreamTable<Incoming>();
  readonly #closedByClient = new ClosedByClient();
  #lastId = 0;
  #lastAccepted = 0;
  #closed = false;

  constructor({ sender, inflow, abuse, maxStreams, onEnd }: OpenStreamsOptions) {
    this.#sender = sender;
    this.#inflow = inflow;
    this.#abuse = abuse;
    this.#maxStreams = maxStreams;
    this.#onEnd = onEnd;
  }

  get size(): number {
    return this.#table.size;
  }

  get isFull(): boolean {
    return this.#table.size >= this.#maxStreams;
  }

  /** The number of the last accepted request. */
  get lastAccepted(): number {
    return this.#lastAccepted;
  }

  get(id: number): Incoming | undefined {
    return this.#table.get(id);
  }

  values(): readonly Incoming[] {
    return this.#table.values();
  }

  /** The client has not used this number. */
  isIdle(id: number): boolean {
    return (id & 1) === 0 || id > this.#lastId;
  }

  /** A new request with this number. False: the connection is closing. */
  begin(id: number): boolean {
    this.#lastId = id;
    if (this.#closed) return false;
    this.#lastAccepted = id;
    return true;
  }

  add(stream: Http2Stream, left: number | undefined): void {
    const ended = stream.body === undefined;
    this.#table.set(stream.id, { stream, window: STREAM_WINDOW, owed: 0, left, unread: 0, ended });
  }

  /** New requests are ignored from now on. */
  acceptNoMore(): void {
    this.#closed = true;
  }

  /** The server has read so much of the body. */
  read(id: number, bytes: number): void {
    const incoming = this.#table.get(id);
    if (incoming !== undefined) this.#inflow.read(incoming, bytes);
  }

  /**
   * A client sends DATA or HEADERS on a closed stream. If it has ended the stream itself that is an error, reported
   * once: the answer is true. If the server has, the frame crossed the server's RST_STREAM and is discarded (RFC 9113,
   * 5.1).
   */
  checkClosed(id: number): boolean {
    const how = this.#closedByClient.take(id);
    if (how === "END_STREAM") throw new ConnectionError(CODE.streamClosed, "a frame after the end of its stream");
    if (how === "RST_STREAM") this.refuse(id, CODE.streamClosed);
    return how !== undefined;
  }

  /** Resets a request that was not opened. */
  refuse(id: number, code: number): void {
    if (!this.#abuse.take()) throw tooMuch("too many malformed requests");
    this.#sender.frame(FRAME.rstStream, 0, id, uint32(code));
  }

  /** A stream error of the client. */
  resetForError(stream: Http2Stream, code: number): void {
    if (!this.#abuse.take()) throw tooMuch("too many stream errors");
    this.reset(stream, code);
  }

  /** Resets the request. */
  reset(stream: Http2Stream, code: number): void {
    this.#sender.frame(FRAME.rstStream, 0, stream.id, uint32(code));
    this.#remove(stream);
  }

  /** The client has reset the request. */
  cancelled(stream: Http2Stream): void {
    this.#remove(stream, "RST_STREAM");
    if (!this.#abuse.take()) throw tooMuch("too many cancelled requests");
  }

  /** The whole answer has been sent. */
  answered(stream: Http2Stream): void {
    // The client need not send the rest of the body.
    if (this.#table.get(stream.id)?.ended === false)
      this.#sender.frame(FRAME.rstStream, 0, stream.id, uint32(CODE.noError));
    this.#remove(stream);
  }

  /** Closes all streams, without frames. */
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
