/**
 * Protobuf's wire format, written from the end to the beginning: when the length of a message is needed, its content is already there,
 * so nothing is copied and nothing is measured twice.
 *
 * 1. Whatever belongs behind is written first: the last field, the last item of a list.
 */

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;

export class BackwardWriter {
  #bytes: Buffer;
  #start: number;

  constructor(size = 1 << 16) {
    this.#bytes = Buffer.allocUnsafe(size);
    this.#start = size;
  }

  text(number: number, text: string): void {
    const length = Buffer.byteLength(text);
    this.#makeRoom(length);
    this.#bytes.write(text, this.#start, "utf8");
    this.#head(number, length);
  }

  /** `content` writes the fields of the message. */
  message(number: number, content: () => void): void {
    const before = this.#length;
    content();
    this.#head(number, this.#length - before);
  }

  integer(number: number, value: number): void {
    this.#varint(value);
    this.#varint((number << 3) | VARINT);
  }

  double(number: number, value: number): void {
    this.#makeRoom(8);
    this.#bytes.writeDoubleLE(value, this.#start);
    this.#varint((number << 3) | FIXED64);
  }

  finish(): Buffer {
    return Buffer.from(this.#bytes.subarray(this.#start));
  }

  get #length(): number {
    return this.#bytes.length - this.#start;
  }

  #head(number: number, length: number): void {
    this.#varint(length);
    this.#varint((number << 3) | BYTES);
  }

  /** Of a number that is neither negative nor broken. */
  #varint(value: number): void {
    let size = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
    this.#makeRoom(size);
    let rest = value;
    for (let at = 0; at < size - 1; at++) {
      this.#bytes[this.#start + at] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#start + size - 1] = rest;
  }

  /** Moves the beginning forward by `size` bytes, into a larger buffer where this one is full. */
  #makeRoom(size: number): void {
    if (size > this.#start) {
      const used = this.#length;
      const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, used + size));
      this.#bytes.copy(larger, larger.length - used, this.#start);
      this.#start = larger.length - used;
      this.#bytes = larger;
    }
    this.#start -= size;
  }
}
