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
import type { Duplex } from "node:stream";
import type { Clock, Logger, Timer } from "#base";
import {
  broken,
  CODE,
  ConnectionError,
  FLAG,
  FRAME,
  INITIAL_WINDOW,
  MAX_MAX_FRAME,
  MAX_WINDOW,
  MIN_MAX_FRAME,
  SETTING,
  tooMuch,
  wrongSize,
} from "./codes.ts";
import { FieldParts } from "./field-parts.ts";
import { announcedBytes, areTrailers, requestFields } from "./fields.ts";
import { FrameReader, uint31 } from "./frame-reader.ts";
import { HeaderDecoder, HeaderEncoder, HpackError } from "./hpack/index.ts";
import { type Incoming, Inflow, STREAM_WINDOW } from "./inflow.ts";
import { Patience } from "./patience.ts";
import { goAwayPayload, settingsPayload, uint32, unpadded } from "./payloads.ts";
import { RequestBody } from "./request-body.ts";
import { Sender } from "./sender.ts";
import { type AnswerFields, Http2Stream, type StreamOwner } from "./stream.ts";
import { StreamTable } from "./stream-table.ts";

/** Requests of one connection at a time: watches are requests, too. */
const MAX_STREAMS = 1_000;
const MAX_FIELD_BYTES = 64 * 1024;
/** Of a list of fields in parts, before it is read. */
const MAX_BLOCK_BYTES = 2 * MAX_FIELD_BYTES;
/** In one frame: each may concern all streams. */
const MAX_SETTINGS = 32;
/** How long it takes until a connection is looked at that has begun, or has answers to take. */
const LOOK_MS = 30_000;
/** What may wait in answers that nobody takes. */
const MAX_UNTAKEN_BYTES = 32 * 1024 * 1024;
/** For the last word to get through. */
const LAST_WORD_MS = 5_000;
const TOO_LARGE = 431;
const NOTHING = Buffer.alloc(0);

export interface Http2ConnectionOptions {
  readonly socket: Duplex;
  readonly onStream: (stream: Http2Stream) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

export class Http2Connection implements StreamOwner {
  readonly #socket: Duplex;
  readonly #onStream: Http2ConnectionOptions["onStream"];
  readonly #sender: Sender;
  readonly #decoder = new HeaderDecoder({ maxListBytes: MAX_FIELD_BYTES });
  readonly #encoder = new HeaderEncoder();
  readonly #patience: Patience;
  readonly #inflow: Inflow;
  readonly #parts: FieldParts;
  readonly #streams = new StreamTable<Incoming>();
  readonly #clock: Clock;
  readonly #log: Logger;
  /** The last request that came, and the last that was taken up: these differ for one that closes. */
  #lastId = 0;
  #lastTaken = 0;
  #configured = false;
  #peerWindow = INITIAL_WINDOW;
  #closing = false;
  #timer: Timer | undefined;
  /** When it was last looked at. */
  #sentBefore = 0;
  readonly #look = () => this.#lookAround();

  constructor({ socket, onStream, clock, log }: Http2ConnectionOptions) {
    this.#clock = clock;
    this.#log = log;
    this.#socket = socket;
    this.#onStream = onStream;
    this.#patience = new Patience(clock);
    this.#sender = new Sender(socket, (stream) => this.#answered(stream));
    const reader = new FrameReader((...frame) => this.#take(...frame));
    this.#parts = new FieldParts(MAX_BLOCK_BYTES, this.#patience);
    this.#sender.frame(FRAME.settings, 0, 0, OUR_SETTINGS);
    this.#inflow = new Inflow(this.#sender);
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
    this.#timer = clock.timer(LOOK_MS, this.#look);
  }

  /** Requests that are under way. */
  get streams(): number {
    return this.#streams.size;
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
    if (this.#parts.isOpen && type !== FRAME.continuation) throw broken("fields in parts were interrupted");
    if (!this.#configured && (type !== FRAME.settings || (flags & FLAG.ack) !== 0))
      throw broken("it does not begin with settings");
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
    if (type === FRAME.goAway && length < 8) throw wrongSize("GOAWAY");
    if (type === FRAME.priority && id === 0) throw broken("a priority of no stream");
    if (type === FRAME.priority && length !== 5) throw wrongSize("PRIORITY");
    if (type === FRAME.pushPromise) throw broken("a client cannot promise");
  }

  #data(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    const isLast = (flags & FLAG.endStream) !== 0;
    if (this.#isIdle(id)) throw broken("data of no request");
    if (length === 0 && !isLast && !this.#patience.bears()) throw tooMuch("data that is none");
    this.#inflow.count(length);
    const incoming = this.#streams.get(id);
    // It may have been sent before the caller heard that nobody wants it any more.
    if (incoming === undefined) return;
    if (incoming.ended) {
      this.#punish(incoming.stream, CODE.streamClosed);
      return;
    }
    if (length > incoming.window) {
      this.#punish(incoming.stream, CODE.flowControlError);
      return;
    }
    incoming.window -= length;
    const { at, to } = unpadded(flags, bytes, start, end);
    if (incoming.left !== undefined) {
      incoming.left -= to - at;
      if (incoming.left < 0) {
        this.#punish(incoming.stream, CODE.protocolError);
        return;
      }
    }
    incoming.ended = isLast;
    this.#inflow.hold(incoming, to - at);
    incoming.stream.body?.receive(bytes.subarray(at, to));
    // Who reads may have given up because of it.
    if (incoming.stream.destroyed) return;
    this.#inflow.credit(incoming, length - (to - at));
    if (isLast) this.#ended(incoming);
  }

  /** No request of the client has had this number. */
  #isIdle(id: number): boolean {
    return (id & 1) === 0 || id > this.#lastId;
  }

  #headers(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if ((id & 1) === 0) throw broken("a request with a number that is not a client's");
    const { at, to } = unpadded(flags, bytes, start, end);
    const from = (flags & FLAG.priority) === 0 ? at : at + 5;
    if (from > to) throw wrongSize("HEADERS");
    const endStream = (flags & FLAG.endStream) !== 0;
    if ((flags & FLAG.endHeaders) !== 0) {
      this.#fields(id, endStream, bytes.subarray(from, to));
      return;
    }
    this.#parts.begin(id, endStream, bytes.subarray(from, to));
  }

  #continuation(flags: number, id: number, part: Buffer): void {
    const whole = this.#parts.add(id, part, (flags & FLAG.endHeaders) !== 0);
    if (whole !== undefined) this.#fields(id, whole.endStream, whole.bytes);
  }

  #fields(id: number, endStream: boolean, block: Buffer): void {
    const list = this.#decoder.decode(block);
    const known = this.#streams.get(id);
    if (known !== undefined) {
      this.#trailers(known, endStream, list);
      return;
    }
    if (id <= this.#lastId) {
      // That it is over the caller may not have heard when it sent trailers; but it may not begin again.
      if (list?.[0]?.startsWith(":") === true) throw broken("a request with a number that has been");
      return;
    }
    this.#lastId = id;
    if (this.#closing) return;
    this.#lastTaken = id;
    if (this.#streams.size >= MAX_STREAMS) {
      this.#refuse(id, CODE.refusedStream);
      return;
    }
    const fields = list === undefined ? TOO_MANY_FIELDS : requestFields(list);
    if (fields === undefined) {
      this.#refuse(id, CODE.protocolError);
      return;
    }
    const left = announcedBytes(fields);
    if (left !== undefined && (Number.isNaN(left) || (endStream && left > 0))) {
      this.#refuse(id, CODE.protocolError);
      return;
    }
    const body = endStream ? undefined : new RequestBody((bytes) => this.#read(id, bytes));
    const stream = new Http2Stream(id, fields, list ?? [], body, this, this.#peerWindow);
    this.#streams.set(id, { stream, window: STREAM_WINDOW, owed: 0, left, unread: 0, ended: endStream });
    this.#timer ??= this.#clock.timer(LOOK_MS, this.#look);
    if (list === undefined) {
      stream.respond(TOO_LARGE, {});
      stream.end();
    } else this.#onStream(stream);
  }

  /** Of its body. */
  #read(id: number, bytes: number): void {
    const incoming = this.#streams.get(id);
    if (incoming !== undefined) this.#inflow.read(incoming, bytes);
  }

  #trailers(incoming: Incoming, endStream: boolean, list: readonly string[] | undefined): void {
    if (incoming.ended) {
      this.#punish(incoming.stream, CODE.streamClosed);
      return;
    }
    if (!endStream || list === undefined || !areTrailers(list)) {
      this.#punish(incoming.stream, CODE.protocolError);
      return;
    }
    this.#ended(incoming);
  }

  /** The request is complete. */
  #ended(incoming: Incoming): void {
    if (incoming.left !== undefined && incoming.left > 0) {
      this.#punish(incoming.stream, CODE.protocolError);
      return;
    }
    incoming.ended = true;
    incoming.stream.body?.complete();
  }

  /** A request that never was one. */
  #refuse(id: number, code: number): void {
    if (!this.#patience.bears()) throw tooMuch("requests that are none");
    this.#sender.frame(FRAME.rstStream, 0, id, uint32(code));
  }

  /** A request that has begun and was then spoilt: as cheap for the caller as taking it back. */
  #punish(stream: Http2Stream, code: number): void {
    if (!this.#patience.bears()) throw tooMuch("requests that are spoilt");
    this.reset(stream, code);
  }

  #rstStream(id: number, length: number): void {
    if (length !== 4) throw wrongSize("RST_STREAM");
    if (this.#isIdle(id)) throw broken("the end of no request");
    const incoming = this.#streams.get(id);
    if (incoming === undefined) return;
    this.#remove(incoming.stream);
    if (!this.#patience.bears()) throw tooMuch("requests that are taken back");
  }

  #settings(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if (id !== 0) throw broken("settings of one stream");
    this.#configured = true;
    if ((flags & FLAG.ack) !== 0) {
      if (start !== end) throw wrongSize("SETTINGS");
      return;
    }
    if ((end - start) % 6 !== 0) throw wrongSize("SETTINGS");
    if (end - start > MAX_SETTINGS * 6) throw tooMuch("settings");
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
        for (const { stream } of this.#streams.values())
          if (!this.#widen(stream, more)) throw new ConnectionError(CODE.flowControlError, "too much room");
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
    if (!this.#patience.bears()) throw tooMuch("to acknowledge");
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
    if (this.#isIdle(id)) throw broken("room for no request");
    const stream = this.#streams.get(id)?.stream;
    if (stream === undefined) return;
    if (more === 0) this.#punish(stream, CODE.protocolError);
    else if (!this.#widen(stream, more)) this.#punish(stream, CODE.flowControlError);
  }

  /** False: there is no such room. */
  #widen(stream: Http2Stream, more: number): boolean {
    stream.window += more;
    if (stream.waiting > 0) this.#sender.ready(stream);
    return stream.window <= MAX_WINDOW;
  }

  /** The whole answer is on its way. */
  #answered(stream: Http2Stream): void {
    // Nobody reads on: the caller need not send the rest.
    if (this.#streams.get(stream.id)?.ended === false)
      this.#sender.frame(FRAME.rstStream, 0, stream.id, uint32(CODE.noError));
    this.#remove(stream);
  }

  #remove(stream: Http2Stream): void {
    const incoming = this.#streams.get(stream.id);
    if (incoming !== undefined) this.#inflow.drop(incoming);
    this.#streams.delete(stream.id);
    stream.close();
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (this.#closing && this.#streams.size === 0) this.#sender.end();
  }

  #goAway(code: number): void {
    this.#sender.frame(FRAME.goAway, 0, 0, goAwayPayload(this.#lastTaken, code));
  }

  /** Who has nothing to say is let go, and so are complete answers that nobody takes, if they are much. */
  #lookAround(): void {
    this.#timer = undefined;
    if (this.#socket.writableEnded) return;
    if (!this.#configured) {
      this.#fail(broken("it has not begun"));
      return;
    }
    const { sentBytes } = this.#sender;
    const untaken = untakenOf(this.#streams.values(), sentBytes === this.#sentBefore);
    this.#sentBefore = sentBytes;
    for (const stream of untaken) this.reset(stream, CODE.cancel);
    for (const { stream } of this.#streams.values()) stream.waitedBefore = stream.waiting;
    if (this.#streams.size > 0) this.#timer = this.#clock.timer(LOOK_MS, this.#look);
  }

  #fail(error: unknown): void {
    const code = codeOf(error);
    if (code === CODE.internalError) this.#log.error("a connection failed in a way that nobody expected", { error });
    this.#closing = true;
    this.#goAway(code);
    // It is not waited for who does not listen.
    const cut = () => this.#socket.destroy();
    this.#sender.end(cut);
    this.#closed();
    if (!this.#socket.destroyed) this.#timer = this.#clock.timer(LAST_WORD_MS, cut);
  }

  /** Nobody is there any more. */
  #closed(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    for (const { stream } of this.#streams.values()) {
      this.#streams.delete(stream.id);
      stream.close();
    }
  }
}

function codeOf(error: unknown): number {
  if (error instanceof ConnectionError) return error.code;
  return error instanceof HpackError ? CODE.compressionError : CODE.internalError;
}

/** Answers that have not moved since the last look because their callers have no room: not those that wait for their turn on a slow network. */
function untakenOf(streams: readonly Incoming[], isStuck: boolean): Http2Stream[] {
  const untaken = streams
    .map(({ stream }) => stream)
    .filter(({ isEnded, waiting, waitedBefore }) => isEnded && waiting > 0 && waiting === waitedBefore)
    .filter(({ window }) => isStuck || window <= 0);
  const bytes = untaken.reduce((sum, { waiting }) => sum + waiting, 0);
  return bytes > MAX_UNTAKEN_BYTES ? untaken : [];
}

const TOO_MANY_FIELDS = requestFields([":method", "GET", ":path", "/", ":scheme", "https"]) ?? {};

const OUR_SETTINGS = settingsPayload([
  [SETTING.maxConcurrentStreams, MAX_STREAMS],
  [SETTING.initialWindowSize, STREAM_WINDOW],
  [SETTING.maxHeaderListSize, MAX_FIELD_BYTES],
]);
