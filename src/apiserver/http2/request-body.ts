/**
 * The body of a request as a stream: the client's window opens as it is read.
 *
 * 1. Unread bytes are buffered here, and count against the client's window.
 * 2. Small parts are joined: as single Buffers they would take a hundred times their size.
 */
import { Readable } from "node:stream";

const JOINED_PARTS = 64;

export class RequestBody extends Readable {
  readonly #credit: (bytes: number) => void;
  #waiting: Buffer[] = [];
  /** How many of the last parts are not joined. */
  #single = 0;
  #wanted = false;
  #complete = false;

  /** `credit`: called with the number of bytes read. */
  constructor(credit: (bytes: number) => void) {
    // Readable itself buffers nothing: unread bytes stay here.
    super({ highWaterMark: 1 });
    this.#credit = credit;
  }

  /** Copies: a slice would retain the memory of a whole read of the socket. */
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

  /** The body is complete. */
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
