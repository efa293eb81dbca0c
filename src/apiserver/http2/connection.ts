/**
 * One HTTP/2 connection, on the server's side (RFC 9113).
 *
 *     socket ──► frame-reader ──► requests ──► onStream
 *                             └─► control: SETTINGS, PING, WINDOW_UPDATE
 *     socket ◄── sender ◄── answers; frames of the protocol itself
 *
 * 1. A connection error ends the connection with GOAWAY and a code; a stream error ends one request.
 * 2. Priorities are ignored, nothing is pushed.
 * 3. Clients that open and cancel requests, or send PING or SETTINGS, without end are disconnected: see
 *    abuse-budget.ts.
 * 4. A connection without a request for `idleMs` is closed, whatever other frames it carries; a watch is a request.
 * 5. A connection that retires first announces that it will accept no more requests, and a little later accepts none:
 *    requests that cross the announcement are answered.
 */
import type { Duplex } from "node:stream";
import type { Clock, Logger, Timer } from "#base";
import { AbuseBudget } from "./abuse-budget.ts";
import { Answers } from "./answers.ts";
import { broken, CODE, ConnectionError, FLAG, FRAME } from "./codes.ts";
import { Control, ourSettings } from "./control.ts";
import { FrameReader } from "./frame-reader.ts";
import { HpackError } from "./hpack/index.ts";
import { Inflow } from "./inflow.ts";
import { MAX_STREAMS, OpenStreams } from "./open-streams.ts";
import type { OutputBuffers } from "./output-buffers.ts";
import { goAwayPayload } from "./payloads.ts";
import { Requests } from "./requests.ts";
import { Sender } from "./sender.ts";
import { StalledAnswers } from "./stalled-answers.ts";
import type { Http2Stream, StreamOwner } from "./stream.ts";

/** How often a connection is checked at least. */
const CHECK_MS = 30_000;
/** For the preface and SETTINGS. */
const PREFACE_MS = 30_000;
/** For GOAWAY to be sent, and for the client to close its side. */
const GOODBYE_MS = 5_000;
/** Between the announcement that a connection retires and the last request that it accepts: as in Go. */
const RETIRE_MS = 1_000;
/** "All requests so far" (RFC 9113, 6.8): the highest number of a stream. */
const ANY_STREAM = 2 ** 31 - 1;

export interface Http2ConnectionOptions {
  readonly socket: Duplex;
  readonly onStream: (stream: Http2Stream) => void;
  /** How long the connection stays open without a request. */
  readonly idleMs: number;
  /** Open requests at a time. Default: 1,000. */
  readonly maxStreams?: number | undefined;
  /** Shared by the connections of a port. */
  readonly buffers?: OutputBuffers | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

export class Http2Connection {
  readonly #socket: Duplex;
  readonly #idleMs: number;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #sender: Sender;
  readonly #streams: OpenStreams;
  readonly #requests: Requests;
  readonly #control: Control;
  readonly #stalled: StalledAnswers;
  #closing = false;
  /** When the last open request ended. */
  #idleSince: number;
  #timer: Timer | undefined;
  #retiring: Timer | undefined;
  readonly #onCheck = () => this.#check();
  readonly #cut = () => this.#socket.destroy();

  constructor({ socket, onStream, idleMs, maxStreams = MAX_STREAMS, buffers, clock, log }: Http2ConnectionOptions) {
    this.#idleMs = idleMs;
    this.#clock = clock;
    this.#log = log;
    this.#socket = socket;
    this.#idleSince = clock.monotonic();
    const abuse = new AbuseBudget(clock);
    const sender = new Sender(socket, (stream) => this.#streams.answered(stream), buffers);
    sender.frame(FRAME.settings, 0, 0, ourSettings(maxStreams));
    const inflow = new Inflow(sender);
    const answers = new Answers(sender);
    const streams = new OpenStreams({ sender, inflow, abuse, maxStreams, onEnd: () => this.#ended() });
    const owner: StreamOwner = {
      head: (stream, status, fields) => answers.head(stream, status, fields),
      ready: (stream) => sender.ready(stream),
      reset: (stream, code) => streams.reset(stream, code),
      retire: () => this.retire(),
    };
    this.#sender = sender;
    this.#streams = streams;
    this.#requests = new Requests({ streams, inflow, answers, abuse, owner, onStream });
    this.#control = new Control({ sender, streams, answers, abuse });
    this.#stalled = new StalledAnswers(sender);
    this.#listen();
    this.#timer = clock.timer(Math.min(CHECK_MS, idleMs), this.#onCheck);
  }

  /** Open requests. */
  get streams(): number {
    return this.#streams.size;
  }

  /** Accepts no more requests; open requests are answered. */
  close(): void {
    if (this.#closing) return;
    this.#goAway(CODE.noError);
    this.#endIfDone();
  }

  /** The client shall send further requests on another connection. Open requests are answered. */
  retire(): void {
    if (this.#closing || this.#retiring !== undefined) return;
    this.#sender.frame(FRAME.goAway, 0, 0, goAwayPayload(ANY_STREAM, CODE.noError));
    this.#retiring = this.#clock.timer(RETIRE_MS, () => this.close());
  }

  #listen(): void {
    const reader = new FrameReader((...frame) => this.#take(...frame));
    this.#socket.on("data", (chunk: Buffer) => {
      if (this.#socket.writableEnded) return;
      try {
        reader.read(chunk);
      } catch (error) {
        this.#fail(error);
      }
    });
    // `close` follows.
    this.#socket.on("error", () => {});
    this.#socket.on("close", () => this.#closed());
  }

  #take(type: number, flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if (this.#socket.writableEnded) return;
    const requests = this.#requests;
    const control = this.#control;
    if (requests.inFields && type !== FRAME.continuation) throw broken("a frame between HEADERS and CONTINUATION");
    if (!control.isConfigured && (type !== FRAME.settings || (flags & FLAG.ack) !== 0))
      throw broken("the first frame is not SETTINGS");
    if (type === FRAME.headers) requests.headers(flags, id, bytes, start, end);
    else if (type === FRAME.data) requests.data(flags, id, bytes, start, end);
    else if (type === FRAME.continuation) requests.continuation(flags, id, bytes.subarray(start, end));
    else if (type === FRAME.windowUpdate) control.windowUpdate(id, bytes, start, end);
    else if (type === FRAME.rstStream) requests.rstStream(id, end - start);
    else if (type === FRAME.settings) control.settings(flags, id, bytes, start, end);
    else if (type === FRAME.ping) control.ping(flags, id, bytes, start, end);
    else control.ignored(type, id, bytes, start, end);
  }

  /** A request has ended. */
  #ended(): void {
    if (this.#streams.size > 0) return;
    this.#idleSince = this.#clock.monotonic();
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (!this.#closing || this.#streams.size > 0) return;
    this.#sender.end();
    if (this.#retiring === undefined || this.#socket.destroyed) return;
    // The server goes on: a client that does not close its side is not awaited.
    this.#timer?.cancel();
    this.#timer = this.#clock.timer(GOODBYE_MS, this.#cut);
  }

  #goAway(code: number): void {
    this.#closing = true;
    this.#streams.acceptNoMore();
    this.#sender.frame(FRAME.goAway, 0, 0, goAwayPayload(this.#streams.lastAccepted, code));
  }

  /** Closes an idle connection, and resets large answers that the client does not read. */
  #check(): void {
    this.#timer = undefined;
    if (this.#socket.writableEnded) return;
    for (const stream of this.#stalled.find(this.#streams.values())) this.#streams.reset(stream, CODE.cancel);
    const { isConfigured } = this.#control;
    const idleMs = this.#streams.size > 0 ? 0 : this.#clock.monotonic() - this.#idleSince;
    const restMs = (isConfigured ? this.#idleMs : PREFACE_MS) - idleMs;
    if (restMs > 0) this.#timer = this.#clock.timer(Math.min(CHECK_MS, restMs), this.#onCheck);
    else if (isConfigured) this.#leave();
    else this.#fail(broken("no preface and SETTINGS within the time limit"));
  }

  /** Requests that cross GOAWAY can be sent again on another connection, so frames are read for a while. */
  #leave(): void {
    this.close();
    this.#timer = this.#clock.timer(GOODBYE_MS, this.#cut);
  }

  #fail(error: unknown): void {
    const code = codeOf(error);
    if (code === CODE.internalError) this.#log.error("unexpected error on an HTTP/2 connection", { error });
    this.#goAway(code);
    // Slow readers are dropped, not awaited.
    this.#sender.end(this.#cut);
    this.#closed();
    if (!this.#socket.destroyed) this.#timer = this.#clock.timer(GOODBYE_MS, this.#cut);
  }

  /** The socket is closed, or will be. */
  #closed(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#retiring?.cancel();
    this.#streams.drop();
  }
}

function codeOf(error: unknown): number {
  if (error instanceof ConnectionError) return error.code;
  return error instanceof HpackError ? CODE.compressionError : CODE.internalError;
}
