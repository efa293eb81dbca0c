/** Writes the few forms of protobuf that OTLP needs. Empty values are left out, as proto3 has it. */

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
const START_BYTES = 1024;

export class ProtobufWriter {
  #bytes = Buffer.allocUnsafe(START_BYTES);
  #length = 0;

  text(field: number, value: string): void {
    if (value !== "") this.#put(field, Buffer.from(value));
  }

  /** Hexadecimal digits, sent as bytes. */
  hex(field: number, value: string): void {
    if (value !== "") this.#put(field, Buffer.from(value, "hex"));
  }

  varint(field: number, value: number): void {
    if (value !== 0) this.alwaysVarint(field, value);
  }

  /** Also a zero: the value of a oneof. */
  alwaysVarint(field: number, value: number | bigint): void {
    this.#tag(field, VARINT);
    this.#varint(BigInt.asUintN(64, BigInt(value)));
  }

  double(field: number, value: number): void {
    this.#tag(field, FIXED64);
    this.#room(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  fixed64(field: number, value: bigint): void {
    this.#tag(field, FIXED64);
    this.#room(8);
    this.#length = this.#bytes.writeBigUInt64LE(value, this.#length);
  }

  fixed32(field: number, value: number): void {
    this.#tag(field, FIXED32);
    this.#room(4);
    this.#length = this.#bytes.writeUInt32LE(value, this.#length);
  }

  /** Also an empty one: its presence may mean something. */
  message(field: number, write: (message: ProtobufWriter) => void): void {
    const message = new ProtobufWriter();
    write(message);
    this.#put(field, message.bytes());
  }

  alwaysText(field: number, value: string): void {
    this.#put(field, Buffer.from(value));
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #put(field: number, bytes: Buffer): void {
    this.#tag(field, BYTES);
    this.#varint(BigInt(bytes.length));
    this.#room(bytes.length);
    this.#length += bytes.copy(this.#bytes, this.#length);
  }

  #tag(field: number, form: number): void {
    this.#varint(BigInt((field << 3) | form));
  }

  #varint(value: bigint): void {
    this.#room(10);
    let rest = value;
    while (rest > 0x7fn) {
      this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#bytes[this.#length++] = Number(rest);
  }

  #room(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
