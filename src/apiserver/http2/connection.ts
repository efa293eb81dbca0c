/**
 * One connection of HTTP/2, from the side of the server (RFC 9113).
 *
 *     socket ──► frame-reader ──► requests ──► onStream
 *                             └─► control: settings, pings, room for answers
 *     socket ◄── sender ◄── answers; what the protocol itself has to say
 *
 * 1. What breaks the protocol ends the connection, with a code that says why; what is wrong with one request ends that request.
 * 2. Nothing is promised to who asks: priorities are read and forgotten, nothing is pushed.
 * 3. Who makes work and takes it back, or keeps asking for signs of life, is let go after a while.
 * 4. One without a request under way for `idleMs` is closed, whatever else is said on it; a watch is a request.
 */
import type { Duplex } from "node:stream";
import type { Clock, Logger, Timer } from "#base";
import { Answers } from "./answers.ts";
import { broken, CODE, ConnectionError, FLAG, FRAME } from "./codes.ts";
import { Control, OUR_SETTINGS } from "./control.ts";
import { FrameReader } from "./frame-reader.ts";
import { HpackError } from "./hpack/index.ts";
import { Inflow } from "./inflow.ts";
import { OpenStreams } from "./open-streams.ts";
import { Patience } from "./patience.ts";
import { goAwayPayload } from "./payloads.ts";
import { Requests } from "./requests.ts";
import { Sender } from "./sender.ts";
import type { Http2Stream, StreamOwner } from "./stream.ts";
import { UntakenAnswers } from "./untaken.ts";

/** How long it takes, at most, until a connection is looked at. */
const LOOK_MS = 30_000;
/** For its first words. */
const BEGIN_MS = 30_000;
/** For the last word to get through. */
const LAST_WORD_MS = 5_000;

export interface Http2ConnectionOptions {
  readonly socket: Duplex;
  readonly onStream: (stream: Http2Stream) => void;
  /** How long it stays open without a request. */
  readonly idleMs: number;
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
  readonly #untaken: UntakenAnswers;
  #closing = false;
  /** When the last request ended that was alone. */
  #idleSince: number;
  #timer: Timer | undefined;
  readonly #look = () => this.#lookAround();
  readonly #cut = () => this.#socket.destroy();

  constructor({ socket, onStream, idleMs, clock, log }: Http2ConnectionOptions) {
    this.#idleMs = idleMs;
    this.#clock = clock;
    this.#log = log;
    this.#socket = socket;
    this.#idleSince = clock.monotonic();
    const patience = new Patience(clock);
    const sender = new Sender(socket, (stream) => this.#streams.answered(stream));
    sender.frame(FRAME.settings, 0, 0, OUR_SETTINGS);
    const inflow = new Inflow(sender);
    const answers = new Answers(sender);
    const streams = new OpenStreams({ sender, inflow, patience, onEnd: () => this.#ended() });
    const owner: StreamOwner = {
      head: (stream, status, fields) => answers.head(stream, status, fields),
      ready: (stream) => sender.ready(stream),
      reset: (stream, code) => streams.reset(stream, code),
    };
    this.#sender = sender;
    this.#streams = streams;
    this.#requests = new Requests({ streams, inflow, answers, patience, owner, onStream });
    this.#control = new Control({ sender, streams, answers, patience });
    this.#untaken = new UntakenAnswers(sender);
    this.#listen();
    this.#timer = clock.timer(Math.min(LOOK_MS, idleMs), this.#look);
  }

  /** Requests that are under way. */
  get streams(): number {
    return this.#streams.size;
  }

  /** Takes no more requests; those that are under way are answered. */
  close(): void {
    if (this.#closing) return;
    this.#goAway(CODE.noError);
    this.#endIfDone();
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
    // Its end is seen as `close`.
    this.#socket.on("error", () => {});
    this.#socket.on("close", () => this.#closed());
  }

  #take(type: number, flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if (this.#socket.writableEnded) return;
    const requests = this.#requests;
    const control = this.#control;
    if (requests.inFields && type !== FRAME.continuation) throw broken("fields in parts were interrupted");
    if (!control.isConfigured && (type !== FRAME.settings || (flags & FLAG.ack) !== 0))
      throw broken("it does not begin with settings");
    if (type === FRAME.headers) requests.headers(flags, id, bytes, start, end);
    else if (type === FRAME.data) requests.data(flags, id, bytes, start, end);
    else if (type === FRAME.continuation) requests.continuation(flags, id, bytes.subarray(start, end));
    else if (type === FRAME.windowUpdate) control.windowUpdate(id, bytes, start, end);
    else if (type === FRAME.rstStream) requests.rstStream(id, end - start);
    else if (type === FRAME.settings) control.settings(flags, id, bytes, start, end);
    else if (type === FRAME.ping) control.ping(flags, id, bytes, start, end);
    else control.ignored(type, id, bytes, start, end);
  }

  /** A request has. */
  #ended(): void {
    if (this.#streams.size > 0) return;
    this.#idleSince = this.#clock.monotonic();
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (this.#closing && this.#streams.size === 0) this.#sender.end();
  }

  #goAway(code: number): void {
    this.#closing = true;
    this.#streams.takeNoMore();
    this.#sender.frame(FRAME.goAway, 0, 0, goAwayPayload(this.#streams.lastTaken, code));
  }

  /** Who has nothing to say is let go, and so are complete answers that nobody takes, if they are much. */
  #lookAround(): void {
    this.#timer = undefined;
    if (this.#socket.writableEnded) return;
    for (const stream of this.#untaken.look(this.#streams.values())) this.#streams.reset(stream, CODE.cancel);
    const { isConfigured } = this.#control;
    const idleMs = this.#streams.size > 0 ? 0 : this.#clock.monotonic() - this.#idleSince;
    const restMs = (isConfigured ? this.#idleMs : BEGIN_MS) - idleMs;
    if (restMs > 0) this.#timer = this.#clock.timer(Math.min(LOOK_MS, restMs), this.#look);
    else if (isConfigured) this.#leave();
    else this.#fail(broken("it has not begun"));
  }

  /** Nothing is under way. A request that crosses the farewell can be sent again elsewhere, so what comes is read for a while. */
  #leave(): void {
    this.close();
    this.#timer = this.#clock.timer(LAST_WORD_MS, this.#cut);
  }

  #fail(error: unknown): void {
    const code = codeOf(error);
    if (code === CODE.internalError) this.#log.error("a connection failed in a way that nobody expected", { error });
    this.#goAway(code);
    // It is not waited for who does not listen.
    this.#sender.end(this.#cut);
    this.#closed();
    if (!this.#socket.destroyed) this.#timer = this.#clock.timer(LAST_WORD_MS, this.#cut);
  }

  /** Nobody is there any more. */
  #closed(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#streams.drop();
  }
}

function codeOf(error: unknown): number {
  if (error instanceof ConnectionError) return error.code;
  return error instanceof HpackError ? CODE.compressionError : CODE.internalError;
}
