/**
 * Bytes that arrive in parts, joined as they come.
 *
 * 1. It takes at most twice its bytes, however small the parts are. As a list of Buffers, parts of a byte would take a
 *    hundred times as much; and small Buffers are slices of a pool that each of them keeps alive: 64 KiB for a byte.
 * 2. All parts together are copied a few times: the room doubles.
 */

const FIRST_BYTES = 1024;

export class GrowingBytes {
  #room: Buffer = Buffer.allocUnsafeSlow(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(part: Uint8Array): void {
    const length = this.#length + part.length;
    if (length > this.#room.length) {
      const wider = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#room.length, FIRST_BYTES));
      this.#room.copy(wider, 0, 0, this.#length);
      this.#room = wider;
    }
    this.#room.set(part, this.#length);
    this.#length = length;
  }

  /** Everything so far, not copied: what is appended later does not change it. */
  bytes(): Buffer {
    return this.#room.subarray(0, this.#length);
  }
}
