/**
 * Writes protobuf's wire format from the last byte to the first: when a message's length is due, its content is already
 * written.
 *
 * 1. What is written first stands last. Callers write fields, and items of lists, in reverse.
 */

import type { Int64 } from "../json/json.ts";

const encoder = new TextEncoder();

export class ProtobufWriter {
  #bytes: Uint8Array<ArrayBuffer>;
  /** The start of the content. */
  #start: number;

  constructor(size = 1024) {
    this.#bytes = new Uint8Array(size);
    this.#start = size;
  }

  get length(): number {
    return this.#bytes.length - this.#start;
  }

  /** The written bytes; the writer must not be used afterwards. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(this.#start);
  }

  tag(number: number, wire: 0 | 1 | 2): void {
    this.varint(number * 8 + wire);
  }

  /** A 64-bit integer, negative ones in two's complement. */
  varint(value: Int64): void {
    if (typeof value === "bigint" || value < 0 || value > Number.MAX_SAFE_INTEGER) {
      this.bigVarint(BigInt(value));
      return;
    }
    let size = 1;
    for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size++;
    this.#room(size);
    let at = this.#start;
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes[at++] = (rest % 128) | 128;
    this.#bytes[at] = rest;
  }

  bigVarint(value: bigint): void {
    const groups: number[] = [];
    let rest = BigInt.asUintN(64, value);
    for (; rest >= 128n; rest >>= 7n) groups.push(Number(rest & 127n) | 128);
    groups.push(Number(rest));
    this.raw(Uint8Array.from(groups));
  }

  double(value: number): void {
    this.raw(new Uint8Array(Float64Array.of(value).buffer));
  }

  raw(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#start);
  }

  bytes(bytes: Uint8Array): void {
    this.raw(bytes);
    this.varint(bytes.length);
  }

  string(text: string): void {
    const { length } = text;
    this.#room(length);
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 127) {
        this.#start += length;
        this.bytes(encoder.encode(text));
        return;
      }
      this.#bytes[this.#start + i] = code;
    }
    this.varint(length);
  }

  /** The length of everything written since the writer had length `before`. */
  lengthSince(before: number): void {
    this.varint(this.length - before);
  }

  #room(size: number): void {
    if (size > this.#start) {
      const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + size));
      const start = grown.length - this.length;
      grown.set(this.finish(), start);
      this.#bytes = grown;
      this.#start = start;
    }
    this.#start -= size;
  }
}
