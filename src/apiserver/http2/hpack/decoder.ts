/**
 * Blocks of fields to names and values (RFC 7541, sections 5 and 6).
 *
 * The input is not trusted:
 * 1. Every number is below 2^31 and takes at most five bytes more than its prefix.
 * 2. Nothing is read beyond the block. A string takes memory in proportion to its bytes in the block, whatever its
 *    length claims.
 * 3. Once a list is too long nothing is added to it, but the block is read to its end: later blocks refer to the table
 *    that it leaves.
 * 4. After an HpackError the table may be wrong, and the decoder cannot be used any more.
 */

import { DecoderTable } from "./decoder-table.ts";
import { HpackError } from "./error.ts";
import { decodeHuffman, huffmanRoom } from "./huffman.ts";
import { defaultTableBytes, fieldOverheadBytes, staticLength, staticNames, staticValues } from "./static-table.ts";

const defaultListBytes = 64 * 1024;
const mostNumber = 2 ** 31 - 1;
/** A scratch buffer up to this size is kept for the next string. */
const keptScratchBytes = 8 * 1024;
const nothing = Buffer.alloc(0);

export class HeaderDecoder {
  readonly #tableBytes: number;
  readonly #maxListBytes: number;
  readonly #table: DecoderTable;
  #block: Buffer = nothing;
  #at = 0;
  /** Where Huffman strings are written before they become strings. */
  #scratch: Buffer = nothing;

  /**
   * tableBytes: what our SETTINGS_HEADER_TABLE_SIZE says (default 4096); maxListBytes: longest list of fields
   * (name + value + 32 each), default 64 KiB. Until the peer has read our setting its table has 4096 bytes, and so has
   * ours: a size update announces a change.
   */
  constructor(options: { tableBytes?: number; maxListBytes?: number } = {}) {
    this.#tableBytes = options.tableBytes ?? defaultTableBytes;
    this.#maxListBytes = options.maxListBytes ?? defaultListBytes;
    this.#table = new DecoderTable(defaultTableBytes, this.#tableBytes);
  }

  /**
   * A whole block (HEADERS and its CONTINUATIONs). Names and values in turn, in order, as strings (latin1: a byte is a
   * character). If the list is longer than maxListBytes the answer is `undefined`, and the next block can be decoded.
   */
  decode(block: Buffer): string[] | undefined {
    this.#block = block;
    this.#at = 0;
    const table = this.#table;
    const end = block.length;
    const fields: string[] = [];
    let listBytes = 0;
    let started = false;
    while (this.#at < end) {
      const first = block[this.#at++] ?? 0;
      let name: string;
      let value: string;
      if (first >= 0x80) {
        const index = (first & 0x7f) === 0x7f ? this.#number(0x7f) : first & 0x7f;
        name = this.#name(index);
        value = index <= staticLength ? (staticValues[index] ?? "") : table.value(index - staticLength - 1);
      } else if (first >= 0x40) {
        name = this.#literalName(first, 0x3f);
        value = this.#string();
        table.add(name, value);
      } else if (first >= 0x20) {
        if (started) throw new HpackError("a table size update after the first field");
        const bytes = (first & 0x1f) === 0x1f ? this.#number(0x1f) : first & 0x1f;
        if (bytes > this.#tableBytes)
          throw new HpackError(`a table of ${bytes} bytes, allowed are ${this.#tableBytes}`);
        table.resize(bytes);
        continue;
      } else {
        name = this.#literalName(first, 0x0f);
        value = this.#string();
      }
      started = true;
      listBytes += name.length + value.length + fieldOverheadBytes;
      if (listBytes <= this.#maxListBytes) fields.push(name, value);
    }
    this.#block = nothing;
    return listBytes <= this.#maxListBytes ? fields : undefined;
  }

  #literalName(first: number, mask: number): string {
    const index = first & mask;
    if (index === 0) return this.#string();
    return this.#name(index === mask ? this.#number(mask) : index);
  }

  #name(index: number): string {
    if (index === 0) throw new HpackError("index 0");
    if (index <= staticLength) return staticNames[index] ?? "";
    if (index - staticLength > this.#table.length) throw new HpackError(`index ${index} is beyond the table`);
    return this.#table.name(index - staticLength - 1);
  }

  /** What follows a prefix that is all ones, plus the prefix (RFC 7541, section 5.1). */
  #number(prefix: number): number {
    let value = prefix;
    for (let factor = 1; factor <= 2 ** 28; factor *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) {
        if (value > mostNumber) break;
        return value;
      }
    }
    throw new HpackError("a number is too large");
  }

  #byte(): number {
    const byte = this.#block[this.#at++];
    if (byte === undefined) throw new HpackError("a block is cut off");
    return byte;
  }

  #string(): string {
    const first = this.#byte();
    const length = (first & 0x7f) === 0x7f ? this.#number(0x7f) : first & 0x7f;
    const start = this.#at;
    const end = start + length;
    if (end > this.#block.length) throw new HpackError("a string is cut off");
    this.#at = end;
    if (first < 0x80) return this.#block.toString("latin1", start, end);
    const room = huffmanRoom(length);
    let scratch = this.#scratch;
    if (scratch.length < room) {
      scratch = Buffer.allocUnsafeSlow(room <= 256 ? 256 : room);
      if (room <= keptScratchBytes) this.#scratch = scratch;
    }
    return scratch.toString("latin1", 0, decodeHuffman(this.#block, start, end, scratch));
  }
}
