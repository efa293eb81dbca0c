/**
 * What comes of bodies: how much callers may still send, and what is held until somebody reads it.
 *
 * 1. A stream's window opens as its body is read. The connection's opens by itself, unless too much is held for all streams together.
 * 2. Callers are told when there is much room again, not for every byte.
 */
import { CODE, ConnectionError, FRAME, INITIAL_WINDOW } from "./codes.ts";
import { uint32 } from "./payloads.ts";
import type { Sender } from "./sender.ts";
import type { Http2Stream } from "./stream.ts";

/** What may come of a body before it is read: nearly all objects are smaller. */
export const STREAM_WINDOW = 256 * 1024;
const CONNECTION_WINDOW = 16 * 1024 * 1024;
/** Of bodies that nobody has read yet, in all streams: beyond it the connection's window stays as it is. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

/** What a stream still has to receive. */
export interface Incoming {
  readonly stream: Http2Stream;
  /** What the caller may still send before it hears from us. */
  window: number;
  /** What has been read and the caller has not been told of. */
  owed: number;
  /** Of its body, as it was announced; undefined if it was not. */
  left: number | undefined;
  /** What has come of its body and nobody has read. */
  unread: number;
  ended: boolean;
}

export class Inflow {
  readonly #sender: Sender;
  /** Of data, since the other side was last told that there is room again. */
  #received = 0;
  /** Of bodies, unread. */
  #held = 0;

  constructor(sender: Sender) {
    this.#sender = sender;
    sender.frame(FRAME.windowUpdate, 0, 0, uint32(CONNECTION_WINDOW - INITIAL_WINDOW));
  }

  /** Data has come, whatever becomes of it. Throws if there was no room for it. */
  count(bytes: number): void {
    this.#received += bytes;
    if (this.#received > CONNECTION_WINDOW)
      throw new ConnectionError(CODE.flowControlError, "more data than there is room for");
    this.#reopen();
  }

  hold(incoming: Incoming, bytes: number): void {
    incoming.unread += bytes;
    this.#held += bytes;
  }

  /** Somebody has read it. */
  read(incoming: Incoming, bytes: number): void {
    this.hold(incoming, -bytes);
    this.credit(incoming, bytes);
    this.#reopen();
  }

  /** So many more bytes may come. */
  credit(incoming: Incoming, bytes: number): void {
    incoming.owed += bytes;
    if (incoming.ended || incoming.owed < STREAM_WINDOW / 4) return;
    incoming.window += incoming.owed;
    this.#sender.frame(FRAME.windowUpdate, 0, incoming.stream.id, uint32(incoming.owed));
    incoming.owed = 0;
  }

  /** Nobody will read the rest. */
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
