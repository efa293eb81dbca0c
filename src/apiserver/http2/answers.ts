/**
 * The heads of answers as frames, and the windows that the client grants for their bodies.
 *
 * 1. No window is larger than 2^31-1.
 */
import { CODE, ConnectionError, FLAG, FRAME, INITIAL_WINDOW, MAX_WINDOW } from "./codes.ts";
import { HeaderEncoder } from "./hpack/index.ts";
import type { Sender } from "./sender.ts";
import type { AnswerFields, Http2Stream } from "./stream.ts";

export class Answers {
  readonly #sender: Sender;
  readonly #encoder = new HeaderEncoder();
  #firstWindow = INITIAL_WINDOW;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** Of new streams. */
  get firstWindow(): number {
    return this.#firstWindow;
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

  /** The client's SETTINGS_HEADER_TABLE_SIZE. */
  setTableSize(bytes: number): void {
    this.#encoder.allow(bytes);
  }

  /** Sets the window of new streams, and widens those of open streams by the difference. */
  setFirstWindow(value: number, streams: Iterable<Http2Stream>): void {
    if (value > MAX_WINDOW)
      throw new ConnectionError(CODE.flowControlError, "SETTINGS_INITIAL_WINDOW_SIZE above 2^31-1");
    const more = value - this.#firstWindow;
    this.#firstWindow = value;
    for (const stream of streams) if (!this.widen(stream, more)) throw windowOverflow();
  }

  /** False: the window is too large. */
  widen(stream: Http2Stream, more: number): boolean {
    stream.window += more;
    if (stream.waiting > 0) this.#sender.ready(stream);
    return stream.window <= MAX_WINDOW;
  }

  widenAll(more: number): void {
    this.#sender.window += more;
    if (this.#sender.window > MAX_WINDOW) throw windowOverflow();
    this.#sender.schedule();
  }
}

function windowOverflow(): ConnectionError {
  return new ConnectionError(CODE.flowControlError, "a window above 2^31-1");
}
