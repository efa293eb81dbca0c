/**
 * Memory for the records of one batch, used again for the next one: no garbage for each record, and few address look-ups
 * in lmdb, which makes one for each underlying block.
 */

const CHUNK_BYTES = 1024 * 1024;

export class Arena {
  #chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  #used = 0;

  readonly allocate = (size: number): Buffer => {
    if (this.#used + size > this.#chunk.length) {
      this.#chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, size));
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += size;
    return this.#chunk.subarray(start, start + size);
  };

  /** To be called when nobody needs the memory handed out so far any more. */
  reset(): void {
    if (this.#chunk.length > CHUNK_BYTES) this.#chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    this.#used = 0;
  }
}
