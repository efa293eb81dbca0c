/** The body of a request, as it comes: the caller may send more as this is read. */
import { Readable } from "node:stream";

export class RequestBody extends Readable {
  readonly #credit: (bytes: number) => void;
  #owed = 0;

  /** `credit`: so many more bytes may be sent. */
  constructor(credit: (bytes: number) => void) {
    super();
    this.#credit = credit;
  }

  /** A copy: what has come lies in the memory of a whole read of the connection. */
  receive(bytes: Buffer): void {
    if (bytes.length === 0 || this.destroyed) return;
    this.#owed += bytes.length;
    if (this.push(Buffer.from(bytes))) this.#pay();
  }

  /** No more will come. */
  complete(): void {
    this.push(null);
  }

  override _read(): void {
    this.#pay();
  }

  #pay(): void {
    const owed = this.#owed;
    if (owed === 0) return;
    this.#owed = 0;
    this.#credit(owed);
  }
}
