/**
 * The body of a request, as it comes: the caller may send more as this is read.
 *
 * 1. What nobody has asked for yet waits here, and counts against the caller's window.
 * 2. It may come byte by byte: what waits is joined now and then, or the objects around the bytes would take a hundred times their room.
 */
import { Readable } from "node:stream";

const JOINED_PARTS = 64;

export class RequestBody extends Readable {
  readonly #credit: (bytes: number) => void;
  #waiting: Buffer[] = [];
  /** Of those that wait, at the end: how many have not been joined. */
  #single = 0;
  #wanted = false;
  #complete = false;

  /** `credit`: so many more bytes may be sent. */
  constructor(credit: (bytes: number) => void) {
    // It asks for more when it has nothing: what has not been read is kept here, not there.
    super({ highWaterMark: 1 });
    this.#credit = credit;
  }

  /** A copy: what has come lies in the memory of a whole read of the connection. */
  receive(bytes: Buffer): void {
    if (bytes.length === 0 || this.destroyed) return;
    const part = Buffer.from(bytes);
    if (this.#wanted) {
      this.#wanted = false;
      this.push(part);
      this.#credit(part.length);
      return;
    }
    this.#waiting.push(part);
    if (++this.#single < JOINED_PARTS) return;
    this.#waiting.push(Buffer.concat(this.#waiting.splice(-JOINED_PARTS)));
    this.#single = 0;
  }

  /** No more will come. */
  complete(): void {
    this.#complete = true;
    if (!this.#wanted) return;
    this.#wanted = false;
    this.push(null);
  }

  override _read(): void {
    if (this.#waiting.length === 0) {
      if (this.#complete) this.push(null);
      else this.#wanted = true;
      return;
    }
    const parts = this.#waiting;
    this.#waiting = [];
    this.#single = 0;
    let bytes = 0;
    for (const part of parts) {
      bytes += part.length;
      this.push(part);
    }
    this.#credit(bytes);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#waiting = [];
    done(error);
  }
}
