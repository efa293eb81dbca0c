/**
 * Responses to blocks of fields (RFC 7541, sections 5 and 6).
 *
 * 1. A repeated field takes one or two bytes: it is in the static table, or in the dynamic table since it was first
 *    sent.
 * 2. Fields with a new value each time are written out and do not evict others. Some names are known for that
 *    (`newEachTime`), others are found out (invariant 3 of encoder-table.ts).
 * 3. Strings are written without Huffman coding: it would save some bytes of a few fields and cost more time than the
 *    rest.
 * 4. A character is a byte (latin1). Other characters become "?"; the caller decides whether a value may have control
 *    characters.
 */

import { EncoderTable } from "./encoder-table.ts";
import { defaultTableBytes, staticNames, staticValues } from "./static-table.ts";

const newEachTime: readonly string[] = [
  "age",
  "audit-id",
  "content-length",
  "content-range",
  "date",
  "etag",
  "expires",
  "last-modified",
  "location",
  "retry-after",
  "warning",
];
/** Secrets: never indexed, also by proxies on the way (RFC 7541, 7.1.3). */
const neverIndexed: readonly string[] = ["set-cookie"];

/** The first bits of each representation, and the largest number that fits into the same byte. */
const indexedField = { start: 0x80, prefix: 0x7f };
const withIndexing = { start: 0x40, prefix: 0x3f };
const withoutIndexing = { start: 0x00, prefix: 0x0f };
const neverIndexing = { start: 0x10, prefix: 0x0f };
const sizeUpdate = { start: 0x20, prefix: 0x1f };
const plainString = { start: 0x00, prefix: 0x7f };
type Form = typeof indexedField;

interface FixedName {
  /** In the static table, or 0. */
  readonly index: number;
  /** The representation of all its fields; undefined: they may be added to the table. */
  readonly literal: Form | undefined;
}

const fixedNames: ReadonlyMap<string, FixedName> = new Map(
  [...new Set([...staticNames.slice(1), ...newEachTime, ...neverIndexed])].map((name): [string, FixedName] => [
    name,
    {
      index: Math.max(0, staticNames.indexOf(name)),
      literal: neverIndexed.includes(name) ? neverIndexing : newEachTime.includes(name) ? withoutIndexing : undefined,
    },
  ]),
);

const statusIndexes: ReadonlyMap<number, number> = new Map(
  staticNames.flatMap((name, index) => (name === ":status" ? [[Number(staticValues[index]), index] as const] : [])),
);

const startBytes = 1024;
/** A buffer up to this size is kept for the next block. */
const keptBytes = 16 * 1024;
/** A number takes at most six bytes; a field has three of them. */
const numbersBytes = 18;
/** A loop writes shorter strings faster than a native call. */
const shortString = 16;
/** Of a UTF-16 unit. */
const mostUtf8Bytes = 3;
const questionMark = 0x3f;

export class HeaderEncoder {
  readonly #tableBytes: number;
  readonly #table: EncoderTable;
  /** The next block announces both, if they differ from the table's limit. */
  #leastAllowed: number;
  #allowed: number;
  #out = Buffer.allocUnsafeSlow(startBytes);
  #at = 0;

  /** tableBytes: how much of a dynamic table is used at most (default 4096), never more than what the peer allows. */
  constructor(options: { tableBytes?: number } = {}) {
    this.#tableBytes = options.tableBytes ?? defaultTableBytes;
    this.#table = new EncoderTable(defaultTableBytes, this.#tableBytes);
    this.#allowed = Math.min(this.#tableBytes, defaultTableBytes);
    this.#leastAllowed = this.#allowed;
  }

  /** The peer's SETTINGS_HEADER_TABLE_SIZE: if it changes what is used, the next block starts with a size update. */
  allow(tableBytes: number): void {
    this.#allowed = Math.min(this.#tableBytes, tableBytes);
    this.#leastAllowed = Math.min(this.#leastAllowed, this.#allowed);
  }

  /**
   * A block for a response: ":status", then fields. Names in lower case. A value may be a number or a list (one field
   * for each). The buffer is the caller's.
   */
  encode(status: number, headers: Readonly<Record<string, string | number | readonly string[]>>): Buffer {
    this.#at = 0;
    this.#tellSize();
    const statusIndex = statusIndexes.get(status);
    if (statusIndex !== undefined) this.#number(indexedField, statusIndex);
    else this.#field(":status", String(status));
    for (const name in headers) {
      const value = headers[name];
      if (typeof value === "string") this.#field(name, value);
      else if (typeof value === "number") this.#field(name, String(value));
      else if (value !== undefined) for (const each of value) this.#field(name, each);
    }
    const block = Buffer.allocUnsafe(this.#at);
    this.#out.copy(block, 0, 0, this.#at);
    if (this.#out.length > keptBytes) this.#out = Buffer.allocUnsafeSlow(startBytes);
    return block;
  }

  /** The least of several changes is announced, too: it emptied the peer's table (RFC 7541, section 4.2). */
  #tellSize(): void {
    if (this.#leastAllowed < this.#table.limit) this.#resize(this.#leastAllowed);
    if (this.#allowed !== this.#table.limit) this.#resize(this.#allowed);
    this.#leastAllowed = this.#allowed;
  }

  #resize(bytes: number): void {
    this.#table.resize(bytes);
    this.#number(sizeUpdate, bytes);
  }

  #field(name: string, value: string): void {
    this.#reserve((name.length + value.length) * mostUtf8Bytes + numbersBytes);
    const known = this.#table.known(name);
    if (known !== undefined) {
      const index = this.#table.find(known, value);
      if (index !== 0) {
        this.#number(indexedField, index);
        return;
      }
    }
    const fixed = fixedNames.get(name);
    let nameIndex = fixed === undefined ? 0 : fixed.index;
    if (nameIndex === 0 && known !== undefined) nameIndex = this.#table.indexOfName(known);
    if (fixed?.literal !== undefined) {
      this.#literal(fixed.literal, nameIndex, name, value);
    } else if (this.#table.wants(known, name, value)) {
      this.#literal(withIndexing, nameIndex, name, value);
      this.#table.add(name, value);
    } else {
      this.#literal(withoutIndexing, nameIndex, name, value);
    }
  }

  #literal(form: Form, nameIndex: number, name: string, value: string): void {
    this.#number(form, nameIndex);
    if (nameIndex === 0) this.#string(name);
    this.#string(value);
  }

  #string(text: string): void {
    const length = text.length;
    this.#number(plainString, length);
    const out = this.#out;
    let at = this.#at;
    this.#at += length;
    // As UTF-8 only ASCII has one byte for each character. Other strings are written again, as latin1; there is room
    // for both.
    if (length > shortString && out.write(text, at, "utf8") === length) return;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      out[at++] = code > 0xff ? questionMark : code;
    }
  }

  #number({ start, prefix }: Form, value: number): void {
    const out = this.#out;
    if (value < prefix) {
      out[this.#at++] = start | value;
      return;
    }
    out[this.#at++] = start | prefix;
    let rest = value - prefix;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out[this.#at++] = 0x80 | (rest & 0x7f);
    out[this.#at++] = rest;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#out.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#out.length * 2, this.#at + bytes));
    this.#out.copy(larger, 0, 0, this.#at);
    this.#out = larger;
  }
}
