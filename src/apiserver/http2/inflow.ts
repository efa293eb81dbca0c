/**
 * Flow control of request bodies: how much clients may still send, and how much is buffered.
 *
 * 1. A stream's window opens as its body is read. The connection's opens as data arrives, unless too much is buffered
 *    in all streams.
 * 2. WINDOW_UPDATE is sent for large parts of a window, not for every frame.
 */
import { CODE, ConnectionError, FRAME, INITIAL_WINDOW } from "./codes.ts";
import { uint32 } from "./payloads.ts";
import type { Sender } from "./sender.ts";
import type { Http2Stream } from "./stream.ts";

/** Nearly all objects are smaller. */
export const STREAM_WINDOW = 256 * 1024;
const CONNECTION_WINDOW = 16 * 1024 * 1024;
/** Unread bytes of all bodies, beyond which the connection's window does not open. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

/** The receiving side of a stream. */
export interface Incoming {
  readonly stream: Http2Stream;
  /** How much the client may still send. */
  window: number;
  /** Read bytes for which no WINDOW_UPDATE was sent. */
  owed: number;
  /** What is left of content-length; undefined if there is none. */
  left: number | undefined;
  /** Received and unread bytes of its body. */
  unread: number;
  ended: boolean;
}

export class Inflow {
  readonly #sender: Sender;
  /** DATA since the last WINDOW_UPDATE of the connection. */
  #received = 0;
  /** Unread bytes of all bodies. */
  #held = 0;

  constructor(sender: Sender) {
    this.#sender = sender;
    sender.frame(FRAME.windowUpdate, 0, 0, uint32(CONNECTION_WINDOW - INITIAL_WINDOW));
  }

  /** DATA has arrived, also if it is discarded. Throws if it exceeds the window. */
  count(bytes: number): void {
    this.#received += bytes;
    if (this.#received > CONNECTION_WINDOW)
      throw new ConnectionError(CODE.flowControlError, "DATA beyond the window of the connection");
    this.#reopen();
  }

  hold(incoming: Incoming, bytes: number): void {
    incoming.unread += bytes;
    this.#held += bytes;
  }

  /** The server has read so much of a body. */
  read(incoming: Incoming, bytes: number): void {
    this.hold(incoming, -bytes);
    this.credit(incoming, bytes);
    this.#reopen();
  }

  /** The client may send so much more. */
  credit(incoming: Incoming, bytes: number): void {
    incoming.owed += bytes;
    if (incoming.ended || incoming.owed < STREAM_WINDOW / 4) return;
    incoming.window += incoming.owed;
    this.#sender.frame(FRAME.windowUpdate, 0, incoming.stream.id, uint32(incoming.owed));
    incoming.owed = 0;
  }

  /** The rest of the body will not be read. */
  drop(incoming: Incoming): void {
    if (incoming.unread === 0) return;
    this.hold(incoming, -incoming.unread);
    this.#reopen();
  }

  #reopen(): void {
    if (this.#received < CONNECTION_WINDOW / 2 || this.#held > MAX_HELD_BYTES) return;
    this.#sender.frame(FRAME.windowUpdate, 0, 0, uint32(this.#received));
    this.#received = 0;
  }
}
