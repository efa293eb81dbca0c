/**
 * What goes out of answers: their heads as frames, and how much of them the other side takes.
 *
 * 1. A stream's window is the other side's word; none may be wider than the protocol knows.
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

  /** With which a stream begins. */
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

  /** The other side remembers so many bytes of fields. */
  remember(bytes: number): void {
    this.#encoder.allow(bytes);
  }

  /** Streams begin with this from now on, and those that there are have as much more. */
  setFirstWindow(value: number, streams: Iterable<Http2Stream>): void {
    if (value > MAX_WINDOW) throw new ConnectionError(CODE.flowControlError, "a window that is too large");
    const more = value - this.#firstWindow;
    this.#firstWindow = value;
    for (const stream of streams) if (!this.widen(stream, more)) throw tooMuchRoom();
  }

  /** False: there is no such room. */
  widen(stream: Http2Stream, more: number): boolean {
    stream.window += more;
    if (stream.waiting > 0) this.#sender.ready(stream);
    return stream.window <= MAX_WINDOW;
  }

  widenAll(more: number): void {
    this.#sender.window += more;
    if (this.#sender.window > MAX_WINDOW) throw tooMuchRoom();
    this.#sender.arrange();
  }
}

function tooMuchRoom(): ConnectionError {
  return new ConnectionError(CODE.flowControlError, "too much room");
}
