/**
 * Frames of requests: HEADERS, CONTINUATION, DATA, RST_STREAM.
 *
 *     HEADERS ──► hpack ──► fields ──► Http2Stream ──► onStream
 *     DATA ──► its body
 *
 * 1. Stream errors end one request; connection errors are thrown.
 * 2. Frames that cross the server's RST_STREAM are not errors.
 */

import type { AbuseBudget } from "./abuse-budget.ts";
import type { Answers } from "./answers.ts";
import { broken, CODE, FLAG, tooMuch, wrongSize } from "./codes.ts";
import { FieldParts } from "./field-parts.ts";
import { announcedBytes, areTrailers, requestFields } from "./fields.ts";
import { HeaderDecoder } from "./hpack/index.ts";
import type { Incoming, Inflow } from "./inflow.ts";
import type { OpenStreams } from "./open-streams.ts";
import { checkDependency, unpadded } from "./payloads.ts";
import { RequestBody } from "./request-body.ts";
import { Http2Stream, type StreamOwner } from "./stream.ts";

export const MAX_FIELD_BYTES = 64 * 1024;
/** Of a field block, before it is decoded. */
const MAX_BLOCK_BYTES = 2 * MAX_FIELD_BYTES;
const TOO_LARGE = 431;

export interface RequestsOptions {
  readonly streams: OpenStreams;
  readonly inflow: Inflow;
  readonly answers: Answers;
  readonly abuse: AbuseBudget;
  readonly owner: StreamOwner;
  readonly onStream: (stream: Http2Stream) => void;
}

export class Requests {
  readonly #streams: OpenStreams;
  readonly #inflow: Inflow;
  readonly #answers: Answers;
  readonly #abuse: AbuseBudget;
  readonly #owner: StreamOwner;
  readonly #onStream: RequestsOptions["onStream"];
  readonly #decoder = new HeaderDecoder({ maxListBytes: MAX_FIELD_BYTES });
  readonly #parts: FieldParts;

  constructor({ streams, inflow, answers, abuse, owner, onStream }: RequestsOptions) {
    this.#streams = streams;
    this.#inflow = inflow;
    this.#answers = answers;
    this.#abuse = abuse;
    this.#owner = owner;
    this.#onStream = onStream;
    this.#parts = new FieldParts(MAX_BLOCK_BYTES, abuse);
  }

  /** Only CONTINUATION may follow. */
  get inFields(): boolean {
    return this.#parts.isOpen;
  }

  headers(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if ((id & 1) === 0) throw broken("HEADERS on a stream that a client cannot open");
    const { at, to } = unpadded(flags, bytes, start, end);
    const hasPriority = (flags & FLAG.priority) !== 0;
    const from = hasPriority ? at + 5 : at;
    if (from > to) throw wrongSize("HEADERS");
    if (hasPriority) checkDependency(id, bytes, at);
    const endStream = (flags & FLAG.endStream) !== 0;
    if ((flags & FLAG.endHeaders) !== 0) this.#fields(id, endStream, bytes.subarray(from, to));
    else this.#parts.begin(id, endStream, bytes.subarray(from, to));
  }

  continuation(flags: number, id: number, part: Buffer): void {
    const whole = this.#parts.add(id, part, (flags & FLAG.endHeaders) !== 0);
    if (whole !== undefined) this.#fields(id, whole.endStream, whole.bytes);
  }

  data(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    const isLast = (flags & FLAG.endStream) !== 0;
    if (this.#streams.isIdle(id)) throw broken("DATA on an idle stream");
    if (length === 0 && !isLast && !this.#abuse.take()) throw tooMuch("too many empty DATA frames");
    this.#inflow.count(length);
    const incoming = this.#streams.get(id);
    if (incoming === undefined) {
      this.#streams.checkClosed(id);
      return;
    }
    if (incoming.ended) {
      this.#streams.resetForError(incoming.stream, CODE.streamClosed);
      return;
    }
    if (length > incoming.window) {
      this.#streams.resetForError(incoming.stream, CODE.flowControlError);
      return;
    }
    incoming.window -= length;
    const { at, to } = unpadded(flags, bytes, start, end);
    if (incoming.left !== undefined) {
      incoming.left -= to - at;
      if (incoming.left < 0) {
        this.#streams.resetForError(incoming.stream, CODE.protocolError);
        return;
      }
    }
    incoming.ended = isLast;
    this.#inflow.hold(incoming, to - at);
    incoming.stream.body?.receive(bytes.subarray(at, to));
    // The reader of the body may have reset the stream because of it.
    if (incoming.stream.destroyed) return;
    this.#inflow.credit(incoming, length - (to - at));
    if (isLast) this.#ended(incoming);
  }

  rstStream(id: number, length: number): void {
    if (length !== 4) throw wrongSize("RST_STREAM");
    if (this.#streams.isIdle(id)) throw broken("RST_STREAM on an idle stream");
    const incoming = this.#streams.get(id);
    if (incoming !== undefined) this.#streams.cancelled(incoming.stream);
  }

  #fields(id: number, endStream: boolean, block: Buffer): void {
    const list = this.#decoder.decode(block);
    const known = this.#streams.get(id);
    if (known !== undefined) {
      this.#trailers(known, endStream, list);
      return;
    }
    if (!this.#streams.isIdle(id)) {
      if (this.#streams.checkClosed(id)) return;
      // Trailers of a stream that the server has closed are discarded; a request cannot use its number again.
      if (list?.[0]?.startsWith(":") === true) throw broken("HEADERS on a closed stream");
      return;
    }
    if (!this.#streams.begin(id)) return;
    if (this.#streams.isFull) this.#streams.refuse(id, CODE.refusedStream);
    else this.#begin(id, endStream, list);
  }

  /** `list` undefined: the field section is too large. */
  #begin(id: number, endStream: boolean, list: readonly string[] | undefined): void {
    const fields = list === undefined ? TOO_MANY_FIELDS : requestFields(list);
    const left = fields === undefined ? undefined : announcedBytes(fields);
    const isFalse = left !== undefined && (Number.isNaN(left) || (endStream && left > 0));
    if (fields === undefined || isFalse) {
      this.#streams.refuse(id, CODE.protocolError);
      return;
    }
    const body = endStream ? undefined : new RequestBody((bytes) => this.#streams.read(id, bytes));
    const stream = new Http2Stream(id, fields, list ?? [], body, this.#owner, this.#answers.firstWindow);
    this.#streams.add(stream, left);
    if (list === undefined) {
      stream.respond(TOO_LARGE, {});
      stream.end();
    } else this.#onStream(stream);
  }

  #trailers(incoming: Incoming, endStream: boolean, list: readonly string[] | undefined): void {
    if (incoming.ended) this.#streams.resetForError(incoming.stream, CODE.streamClosed);
    else if (!endStream || list === undefined || !areTrailers(list))
      this.#streams.resetForError(incoming.stream, CODE.protocolError);
    else this.#ended(incoming);
  }

  /** The request is complete. */
  #ended(incoming: Incoming): void {
    if (incoming.left !== undefined && incoming.left > 0) {
      this.#streams.resetForError(incoming.stream, CODE.protocolError);
      return;
    }
    incoming.ended = true;
    incoming.stream.body?.complete();
  }
}

const TOO_MANY_FIELDS = requestFields([":method", "GET", ":path", "/", ":scheme", "https"]) ?? {};
