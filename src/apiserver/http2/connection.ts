/**
 * One connection of HTTP/2, from the side of the server (RFC 9113).
 *
 *     socket ──► frame-reader ──► HEADERS ──► hpack ──► fields ──► Http2Stream ──► onStream
 *                                 DATA ──► its body
 *     socket ◄── sender ◄── HEADERS, DATA of answers; what the protocol itself has to say
 *
 * 1. What breaks the protocol ends the connection, with a code that says why; what is wrong with one request ends that request.
 * 2. Nothing is promised to who asks: priorities are read and forgotten, nothing is pushed.
 * 3. Who makes work and takes it back, or keeps asking for signs of life, is let go after a while.
 */
import type { Socket } from "node:net";
import type { Clock } from "#base";
import {
  CODE,
  ConnectionError,
  FLAG,
  FRAME,
  INITIAL_WINDOW,
  MAX_MAX_FRAME,
  MAX_WINDOW,
  MIN_MAX_FRAME,
  SETTING,
} from "./codes.ts";
import { areTrailers, requestFields } from "./fields.ts";
import { FrameReader, uint31 } from "./frame-reader.ts";
import { HeaderDecoder, HeaderEncoder, HpackError } from "./hpack/index.ts";
import { Patience } from "./patience.ts";
import { RequestBody } from "./request-body.ts";
import { Sender } from "./sender.ts";
import { type AnswerFields, Http2Stream, type StreamOwner } from "./stream.ts";
import { StreamTable } from "./stream-table.ts";

/** Requests of one connection at a time: watches are requests, too. */
const MAX_STREAMS = 1_000;
/** What may come of a body before it is read: nearly all objects are smaller. */
const STREAM_WINDOW = 256 * 1024;
const CONNECTION_WINDOW = 16 * 1024 * 1024;
const MAX_FIELD_BYTES = 64 * 1024;
/** Of a list of fields in parts, before it is read. */
const MAX_BLOCK_BYTES = 2 * MAX_FIELD_BYTES;
const TOO_LARGE = 431;
const NOTHING = Buffer.alloc(0);

export interface Http2ConnectionOptions {
  readonly socket: Socket;
  readonly onStream: (stream: Http2Stream) => void;
  readonly clock: Clock;
}

/** A list of fields that comes in parts. */
interface Block {
  readonly id: number;
  readonly endStream: boolean;
  readonly parts: Buffer[];
  bytes: number;
}

/** What a stream still has to receive. */
interface Incoming {
  readonly stream: Http2Stream;
  /** What the caller may still send before it hears from us. */
  window: number;
  /** What has been read and the caller has not been told of. */
  owed: number;
  /** Of its body, as it was announced; undefined if it was not. */
  left: number | undefined;
  ended: boolean;
}

export class Http2Connection implements StreamOwner {
  readonly #socket: Socket;
  readonly #onStream: Http2ConnectionOptions["onStream"];
  readonly #sender: Sender;
  readonly #decoder = new HeaderDecoder({ maxListBytes: MAX_FIELD_BYTES });
  readonly #encoder = new HeaderEncoder();
  readonly #patience: Patience;
  readonly #streams = new StreamTable<Incoming>();
  #lastId = 0;
  #block: Block | undefined;
  #configured = false;
  /** Of data, since the other side was last told that there is room again. */
  #received = 0;
  #peerWindow = INITIAL_WINDOW;
  #closing = false;

  constructor({ socket, onStream, clock }: Http2ConnectionOptions) {
    this.#socket = socket;
    this.#onStream = onStream;
    this.#patience = new Patience(clock);
    this.#sender = new Sender(socket, (stream) => this.#answered(stream));
    const reader = new FrameReader((...frame) => this.#take(...frame));
    this.#sender.frame(FRAME.settings, 0, 0, OUR_SETTINGS);
    this.#sender.frame(FRAME.windowUpdate, 0, 0, uint32(CONNECTION_WINDOW - INITIAL_WINDOW));
    socket.on("data", (chunk: Buffer) => {
      if (this.#socket.writableEnded) return;
      try {
        reader.read(chunk);
      } catch (error) {
        this.#fail(error);
      }
    });
    // Its end is seen as `close`.
    socket.on("error", () => {});
    socket.on("close", () => this.#closed());
  }

  /** Takes no more requests; those that are under way are answered. */
  close(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#goAway(CODE.noError);
    this.#endIfDone();
  }

  head(stream: Http2Stream, status: number, fields: AnswerFields): void {
    const block = this.#encoder.encode(status, fields);
    const { maxFrame } = this.#sender;
    if (block.length <= maxFrame) {
      this.#sender.frame(FRAME.headers, FLAG.endHeaders, stream.id, block);
      return;
    }
    for (let at = 0; at < block.length; at += maxFrame) {
      const type = at === 0 ? FRAME.headers : FRAME.continuation;
      const flags = at + maxFrame >= block.length ? FLAG.endHeaders : 0;
      this.#sender.frame(type, flags, stream.id, block.subarray(at, at + maxFrame));
    }
  }

  ready(stream: Http2Stream): void {
    this.#sender.ready(stream);
  }

  reset(stream: Http2Stream, code: number): void {
    this.#sender.frame(FRAME.rstStream, 0, stream.id, uint32(code));
    this.#remove(stream);
  }

  #take(type: number, flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if (this.#socket.writableEnded) return;
    if (this.#block !== undefined && type !== FRAME.continuation) throw broken("fields in parts were interrupted");
    if (!this.#configured && type !== FRAME.settings) throw broken("it does not begin with settings");
    if (type === FRAME.headers) this.#headers(flags, id, bytes, start, end);
    else if (type === FRAME.data) this.#data(flags, id, bytes, start, end);
    else if (type === FRAME.continuation) this.#continuation(flags, id, bytes.subarray(start, end));
    else if (type === FRAME.windowUpdate) this.#windowUpdate(id, bytes, start, end);
    else if (type === FRAME.rstStream) this.#rstStream(id, end - start);
    else if (type === FRAME.settings) this.#settings(flags, id, bytes, start, end);
    else if (type === FRAME.ping) this.#ping(flags, id, bytes, start, end);
    else this.#ignored(type, id, end - start);
  }

  /** What is only looked at: it has to be well-formed all the same. Frames that nobody knows may be anything. */
  #ignored(type: number, id: number, length: number): void {
    if (type === FRAME.goAway && id !== 0) throw broken("a farewell of one stream");
    if (type === FRAME.priority && id === 0) throw broken("a priority of no stream");
    if (type === FRAME.priority && length !== 5) throw wrongSize("PRIORITY");
    if (type === FRAME.pushPromise) throw broken("a client cannot promise");
  }

  #data(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    const isLast = (flags & FLAG.endStream) !== 0;
    if (id === 0 || id > this.#lastId) throw broken("data of no request");
    if (length === 0 && !isLast && !this.#patience.bears())
      throw new ConnectionError(CODE.enhanceYourCalm, "too much data that is none");
    this.#count(length);
    const incoming = this.#streams.get(id);
    // It may have been sent before the caller heard that nobody wants it any more.
    if (incoming === undefined) return;
    if (incoming.ended) {
      this.reset(incoming.stream, CODE.streamClosed);
      return;
    }
    if (length > incoming.window) {
      this.reset(incoming.stream, CODE.flowControlError);
      return;
    }
    incoming.window -= length;
    const { at, to } = unpadded(flags, bytes, start, end);
    if (incoming.left !== undefined) {
      incoming.left -= to - at;
      if (incoming.left < 0) {
        this.reset(incoming.stream, CODE.protocolError);
        return;
      }
    }
    incoming.ended = isLast;
    incoming.stream.body?.receive(bytes.subarray(at, to));
    this.#creditStream(incoming, length - (to - at));
    if (isLast) this.#ended(incoming);
  }

  /** What bounds memory are the windows of streams: the connection's is opened again whatever becomes of the data. */
  #count(length: number): void {
    this.#received += length;
    if (this.#received > CONNECTION_WINDOW)
      throw new ConnectionError(CODE.flowControlError, "more data than there is room for");
    if (this.#received < CONNECTION_WINDOW / 2) return;
    this.#sender.frame(FRAME.windowUpdate, 0, 0, uint32(this.#received));
    this.#received = 0;
  }

  #headers(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if (id === 0 || id % 2 === 0) throw broken("a request with a number that is not a client's");
    const { at, to } = unpadded(flags, bytes, start, end);
    const from = (flags & FLAG.priority) === 0 ? at : at + 5;
    if (from > to) throw wrongSize("HEADERS");
    const endStream = (flags & FLAG.endStream) !== 0;
    if ((flags & FLAG.endHeaders) !== 0) {
      this.#fields(id, endStream, bytes.subarray(from, to));
      return;
    }
    const part = Buffer.from(bytes.subarray(from, to));
    this.#block = { id, endStream, parts: [part], bytes: part.length };
  }

  #continuation(flags: number, id: number, part: Buffer): void {
    const block = this.#block;
    if (block === undefined || block.id !== id) throw broken("a continuation of nothing");
    block.bytes += part.length;
    // Parts of nothing cost something, too.
    if (block.bytes > MAX_BLOCK_BYTES || (part.length === 0 && !this.#patience.bears()))
      throw new ConnectionError(CODE.enhanceYourCalm, "too many fields");
    block.parts.push(Buffer.from(part));
    if ((flags & FLAG.endHeaders) === 0) return;
    this.#block = undefined;
    this.#fields(id, block.endStream, Buffer.concat(block.parts));
  }

  #fields(id: number, endStream: boolean, block: Buffer): void {
    const list = this.#decoder.decode(block);
    const known = this.#streams.get(id);
    if (known !== undefined) {
      this.#trailers(known, endStream, list);
      return;
    }
    // Of one that is over, the caller may not have heard; but it may not begin again.
    if (id <= this.#lastId) return;
    if (this.#closing) return;
    this.#lastId = id;
    if (this.#streams.size >= MAX_STREAMS) {
      this.#refuse(id, CODE.refusedStream);
      return;
    }
    const fields = list === undefined ? TOO_MANY_FIELDS : requestFields(list);
    if (fields === undefined) {
      this.#refuse(id, CODE.protocolError);
      return;
    }
    const left = announced(fields["content-length"]);
    if (left !== undefined && (Number.isNaN(left) || (endStream && left > 0))) {
      this.#refuse(id, CODE.protocolError);
      return;
    }
    const body = endStream ? undefined : new RequestBody((bytes) => this.#creditBody(id, bytes));
    const stream = new Http2Stream(id, fields, list ?? [], body, this, this.#peerWindow);
    this.#streams.set(id, { stream, window: STREAM_WINDOW, owed: 0, left, ended: endStream });
    if (list === undefined) {
      stream.respond(TOO_LARGE, {});
      stream.end();
    } else this.#onStream(stream);
  }

  #trailers(incoming: Incoming, endStream: boolean, list: readonly string[] | undefined): void {
    if (incoming.ended) {
      this.reset(incoming.stream, CODE.streamClosed);
      return;
    }
    if (!endStream || list === undefined || !areTrailers(list)) {
      this.reset(incoming.stream, CODE.protocolError);
      return;
    }
    this.#ended(incoming);
  }

  /** The request is complete. */
  #ended(incoming: Incoming): void {
    if (incoming.left !== undefined && incoming.left > 0) {
      this.reset(incoming.stream, CODE.protocolError);
      return;
    }
    incoming.ended = true;
    incoming.stream.body?.complete();
  }

  /** A request that never was one. */
  #refuse(id: number, code: number): void {
    if (!this.#patience.bears()) throw new ConnectionError(CODE.enhanceYourCalm, "too many requests that are none");
    this.#sender.frame(FRAME.rstStream, 0, id, uint32(code));
  }

  #rstStream(id: number, length: number): void {
    if (length !== 4) throw wrongSize("RST_STREAM");
    if (id === 0 || id > this.#lastId) throw broken("the end of no request");
    const incoming = this.#streams.get(id);
    if (incoming === undefined) return;
    this.#remove(incoming.stream);
    if (!this.#patience.bears())
      throw new ConnectionError(CODE.enhanceYourCalm, "too many requests that are taken back");
  }

  #settings(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if (id !== 0) throw broken("settings of one stream");
    this.#configured = true;
    if ((flags & FLAG.ack) !== 0) {
      if (start !== end) throw wrongSize("SETTINGS");
      return;
    }
    if ((end - start) % 6 !== 0) throw wrongSize("SETTINGS");
    for (let at = start; at < end; at += 6) this.#setting(bytes.readUInt16BE(at), bytes.readUInt32BE(at + 2));
    this.#acknowledge(FRAME.settings, NOTHING);
  }

  #setting(setting: number, value: number): void {
    switch (setting) {
      case SETTING.headerTableSize:
        this.#encoder.allow(value);
        return;
      case SETTING.enablePush:
        if (value > 1) throw broken("a switch that is neither on nor off");
        return;
      case SETTING.initialWindowSize: {
        if (value > MAX_WINDOW) throw new ConnectionError(CODE.flowControlError, "a window that is too large");
        const more = value - this.#peerWindow;
        this.#peerWindow = value;
        for (const { stream } of this.#streams.values()) this.#widen(stream, more);
        return;
      }
      case SETTING.maxFrameSize:
        if (value < MIN_MAX_FRAME || value > MAX_MAX_FRAME) throw broken("frames of no such size");
        // Larger ones would keep other streams waiting.
        return;
    }
  }

  #ping(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if (id !== 0) throw broken("a sign of life of one stream");
    if (end - start !== 8) throw wrongSize("PING");
    if ((flags & FLAG.ack) === 0) this.#acknowledge(FRAME.ping, Buffer.from(bytes.subarray(start, end)));
  }

  #acknowledge(type: number, payload: Buffer): void {
    if (!this.#patience.bears()) throw new ConnectionError(CODE.enhanceYourCalm, "too much to acknowledge");
    this.#sender.frame(type, FLAG.ack, 0, payload);
  }

  #windowUpdate(id: number, bytes: Buffer, start: number, end: number): void {
    if (end - start !== 4) throw wrongSize("WINDOW_UPDATE");
    const more = uint31(bytes, start);
    if (id === 0) {
      if (more === 0) throw broken("room for nothing");
      this.#sender.window += more;
      if (this.#sender.window > MAX_WINDOW) throw new ConnectionError(CODE.flowControlError, "too much room");
      this.#sender.arrange();
      return;
    }
    if (id > this.#lastId) throw broken("room for no request");
    const stream = this.#streams.get(id)?.stream;
    if (stream === undefined) return;
    if (more === 0) this.reset(stream, CODE.protocolError);
    else this.#widen(stream, more);
  }

  #widen(stream: Http2Stream, more: number): void {
    stream.window += more;
    if (stream.window > MAX_WINDOW) this.reset(stream, CODE.flowControlError);
    else if (stream.waiting > 0) this.#sender.ready(stream);
  }

  #creditBody(id: number, bytes: number): void {
    const incoming = this.#streams.get(id);
    if (incoming !== undefined) this.#creditStream(incoming, bytes);
  }

  /** So many more bytes may come. It is told when they are many. */
  #creditStream(incoming: Incoming, bytes: number): void {
    incoming.owed += bytes;
    if (incoming.ended || incoming.owed < STREAM_WINDOW / 4) return;
    incoming.window += incoming.owed;
    this.#sender.frame(FRAME.windowUpdate, 0, incoming.stream.id, uint32(incoming.owed));
    incoming.owed = 0;
  }

  /** The whole answer is on its way. */
  #answered(stream: Http2Stream): void {
    // Nobody reads on: the caller need not send the rest.
    if (this.#streams.get(stream.id)?.ended === false)
      this.#sender.frame(FRAME.rstStream, 0, stream.id, uint32(CODE.noError));
    this.#remove(stream);
  }

  #remove(stream: Http2Stream): void {
    this.#streams.delete(stream.id);
    stream.close();
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (this.#closing && this.#streams.size === 0) this.#sender.end();
  }

  #goAway(code: number): void {
    const payload = Buffer.allocUnsafe(8);
    payload.writeUInt32BE(this.#lastId, 0);
    payload.writeUInt32BE(code, 4);
    this.#sender.frame(FRAME.goAway, 0, 0, payload);
  }

  #fail(error: unknown): void {
    const code =
      error instanceof ConnectionError
        ? error.code
        : error instanceof HpackError
          ? CODE.compressionError
          : CODE.internalError;
    this.#closing = true;
    this.#goAway(code);
    this.#sender.end();
    this.#closed();
    // It is not waited for who does not listen.
    this.#socket.destroySoon();
  }

  /** Nobody is there any more. */
  #closed(): void {
    for (const { stream } of [...this.#streams.values()]) {
      this.#streams.delete(stream.id);
      stream.close();
    }
  }
}

const TOO_MANY_FIELDS = requestFields([":method", "GET", ":path", "/", ":scheme", "https"]) ?? {};

const OUR_SETTINGS = settings([
  [SETTING.maxConcurrentStreams, MAX_STREAMS],
  [SETTING.initialWindowSize, STREAM_WINDOW],
  [SETTING.maxHeaderListSize, MAX_FIELD_BYTES],
]);

function settings(all: readonly (readonly [number, number])[]): Buffer {
  const payload = Buffer.alloc(all.length * 6);
  all.forEach(([setting, value], i) => {
    payload.writeUInt16BE(setting, i * 6);
    payload.writeUInt32BE(value, i * 6 + 2);
  });
  return payload;
}

/** NaN: not a length. */
function announced(length: string | undefined): number | undefined {
  if (length === undefined) return undefined;
  return /^\d{1,15}$/.test(length) ? Number(length) : Number.NaN;
}

function unpadded(flags: number, bytes: Buffer, start: number, end: number): { at: number; to: number } {
  if ((flags & FLAG.padded) === 0) return { at: start, to: end };
  if (start === end) throw wrongSize("a padded frame");
  const to = end - (bytes[start] ?? 0);
  if (to < start + 1) throw broken("more padding than there is room for");
  return { at: start + 1, to };
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value, 0);
  return bytes;
}

function broken(message: string): ConnectionError {
  return new ConnectionError(CODE.protocolError, message);
}

function wrongSize(frame: string): ConnectionError {
  return new ConnectionError(CODE.frameSizeError, `${frame} of a wrong size`);
}
