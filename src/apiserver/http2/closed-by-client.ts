/**
 * Streams that the client has ended: it may send nothing more on them. The last few are enough: a client that goes on
 * sending does so at once, and frames on older streams are discarded.
 */
const REMEMBERED = 16;

export type ClientEnd = "END_STREAM" | "RST_STREAM";

export class ClosedByClient {
  readonly #ids: number[] = new Array(REMEMBERED).fill(0);
  readonly #ends: ClientEnd[] = new Array(REMEMBERED).fill("END_STREAM");
  #next = 0;

  add(id: number, end: ClientEnd): void {
    this.#ids[this.#next] = id;
    this.#ends[this.#next] = end;
    this.#next = (this.#next + 1) % REMEMBERED;
  }

  /** How the client ended this stream, asked once; undefined: it did not, or long ago. */
  take(id: number): ClientEnd | undefined {
    const at = this.#ids.indexOf(id);
    if (at === -1) return undefined;
    this.#ids[at] = 0;
    return this.#ends[at];
  }
}
