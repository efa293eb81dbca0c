/** Reads protobuf's wire format from front to back. Throws where the bytes end too early. */

import { numberOf } from "../json/int64.ts";
import type { Int64 } from "../json/json.ts";

export class ProtobufError extends Error {
  override readonly name = "ProtobufError";
}

const decoder = new TextDecoder();

export class ProtobufReader {
  readonly #bytes: Uint8Array;
  #at: number;
  #end: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#at = 0;
    this.#end = bytes.length;
  }

  get done(): boolean {
    return this.#at >= this.#end;
  }

  /** A 64-bit integer in two's complement; floating beyond 2^53. */
  varint(): number {
    return Number(this.int64());
  }

  /** A 64-bit integer in two's complement. */
  int64(): Int64 {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 10; i++) {
      const byte = this.#byte();
      if (i === 7 && byte > 15) return this.#big(i, value, byte);
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    throw new ProtobufError("proto: integer overflow");
  }

  bigSigned(): bigint {
    return BigInt.asIntN(64, this.#bigVarint());
  }

  double(): number {
    const bytes = this.#take(8);
    return new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true);
  }

  bytes(): Uint8Array {
    return this.#take(this.varint());
  }

  string(): string {
    const bytes = this.bytes();
    if (bytes.length > 32) return decoder.decode(bytes);
    let text = "";
    for (const byte of bytes) {
      if (byte > 127) return decoder.decode(bytes);
      text += String.fromCharCode(byte);
    }
    return text;
  }

  /** Reads the message that follows, with its length; calls `read` for each of its fields. */
  message(read: (number: number, wire: number) => void): void {
    const length = this.varint();
    const outer = this.#end;
    if (this.#at + length > outer) throw new ProtobufError("unexpected EOF");
    this.#end = this.#at + length;
    this.fields(read);
    this.#end = outer;
  }

  /** Reads fields up to the end of the message. */
  fields(read: (number: number, wire: number) => void): void {
    while (!this.done) {
      const tag = this.varint();
      read(Math.floor(tag / 8), tag % 8);
    }
  }

  skip(wire: number): void {
    if (wire === 0) this.#bigVarint();
    else if (wire === 1) this.#take(8);
    else if (wire === 2) this.bytes();
    else if (wire === 5) this.#take(4);
    else throw new ProtobufError(`proto: illegal wireType ${wire}`);
  }

  /** A varint that is too long for a number: a negative one, in practice. */
  #big(read: number, low: number, byte: number): Int64 {
    let value = BigInt(low) + (BigInt(byte & 127) << BigInt(7 * read));
    let last = byte;
    for (let i = read + 1; last >= 128; i++) {
      if (i === 10) throw new ProtobufError("proto: integer overflow");
      last = this.#byte();
      value += BigInt(last & 127) << BigInt(7 * i);
    }
    return numberOf(BigInt.asIntN(64, value));
  }

  #bigVarint(): bigint {
    let value = 0n;
    for (let i = 0n; i < 10n; i++) {
      const byte = this.#byte();
      value += BigInt(byte & 127) << (7n * i);
      if (byte < 128) return value;
    }
    throw new ProtobufError("proto: integer overflow");
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new ProtobufError("unexpected EOF");
    return this.#bytes[this.#at++] as number;
  }

  #take(length: number): Uint8Array {
    if (this.#at + length > this.#end) throw new ProtobufError("unexpected EOF");
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}
