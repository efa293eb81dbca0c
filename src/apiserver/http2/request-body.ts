/**
 * The body of a request as a stream: the client's window opens as it is read.
 *
 * 1. Unread bytes are buffered here, and count against the client's window.
 * 2. Parts are joined: as single Buffers, small ones would take a hundred times their size.
 */
import { Readable } from "node:stream";
import { GrowingBytes } from "#base";

export class RequestBody extends Readable {
  readonly #credit: (bytes: number) => void;
  /** Nearly always the only unread part. */
  #first: Buffer | undefined;
  /** All unread parts, if there are several. */
  #parts: GrowingBytes | undefined;
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
    if (this.#wanted) {
      this.#wanted = false;
      this.push(Buffer.from(bytes));
      this.#credit(bytes.length);
      return;
    }
    if (this.#first === undefined) {
      this.#first = Buffer.from(bytes);
      return;
    }
    if (this.#parts === undefined) {
      this.#parts = new GrowingBytes();
      this.#parts.append(this.#first);
    }
    this.#parts.append(bytes);
  }

  /** The body is complete. */
  complete(): void {
    this.#complete = true;
    if (!this.#wanted) return;
    this.#wanted = false;
    this.push(null);
  }

  override _read(): void {
    const unread = this.#parts?.bytes() ?? this.#first;
    if (unread === undefined) {
      if (this.#complete) this.push(null);
      else this.#wanted = true;
      return;
    }
    this.#forget();
    this.push(unread);
    this.#credit(unread.length);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#forget();
    done(error);
  }

  #forget(): void {
    this.#first = undefined;
    this.#parts = undefined;
  }
}
