/** Takes exact numbers of bytes from a stream of chunks, keeping their checksum. */

import { crc32 } from "node:zlib";

export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array();
  #offset = 0;
  #checksum = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** CRC-32 of all that was taken. */
  get checksum(): number {
    return this.#checksum;
  }

  /** A copy of the next bytes, so that they do not keep whole chunks alive; undefined if the stream ends before. */
  async take(length: number): Promise<Buffer | undefined> {
    const taken = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      if (this.#offset === this.#chunk.length && !(await this.#nextChunk())) return undefined;
      const part = this.#chunk.subarray(this.#offset, this.#offset + length - filled);
      taken.set(part, filled);
      filled += part.length;
      this.#offset += part.length;
    }
    this.#checksum = crc32(taken, this.#checksum);
    return taken;
  }

  async atEnd(): Promise<boolean> {
    return this.#offset === this.#chunk.length && !(await this.#nextChunk());
  }

  /** Closes the source before its end. */
  async release(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #nextChunk(): Promise<boolean> {
    for (;;) {
      const step = await this.#chunks.next();
      if (step.done === true) return false;
      if (step.value.length === 0) continue;
      this.#chunk = step.value;
      this.#offset = 0;
      return true;
    }
  }
}
