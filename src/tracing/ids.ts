/** Random ids of traces and spans, never all zeros. */
import type { Random } from "#base";

const TRACE_BYTES = 16;
const SPAN_BYTES = 8;
/** Random bytes are fetched for many ids at once. */
const POOL_BYTES = 4096;

export class Ids {
  readonly #random: Random;
  #pool: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  trace(): string {
    return this.#take(TRACE_BYTES);
  }

  span(): string {
    return this.#take(SPAN_BYTES);
  }

  #take(bytes: number): string {
    if (this.#at + bytes > this.#pool.length) {
      this.#pool = Buffer.from(this.#random.bytes(POOL_BYTES));
      this.#at = 0;
    }
    const id = this.#pool.toString("hex", this.#at, this.#at + bytes);
    this.#at += bytes;
    return /[1-9a-f]/.test(id) ? id : this.#take(bytes);
  }
}
