/**
 * CBOR (RFC 8949) as JSON values, by the rules of Kubernetes' serializer.
 *
 * 1. Nesting, items of an array and entries of a map are limited; nothing may follow the item.
 * 2. Of the simple values only false, true and null are accepted. NaN, infinity, bignums and integers beyond signed 64
 *    bits are refused.
 * 3. Byte strings are texts, unless a tag says that they are expected in base64url, base64 or hexadecimal later. Where
 *    the schema has bytes, any of these tags means the bytes themselves; without one they are the text of base64.
 * 4. A key that stands twice makes the whole document invalid, also where JSON would only warn.
 * 5. Unknown tags are ignored. Times become RFC 3339.
 */
import type { Json } from "../json/json.ts";
import { setKey } from "../json/own-key.ts";
import type { Schema } from "../schema/schema.ts";
import { partOf } from "./encode.ts";
import { CborError, MAJOR, TAG, TYPE_NAMES } from "./item.ts";

const MAX_NESTED = 64;
const MAX_ITEMS = 1024;
const INT64_MAX = 2n ** 63n - 1n;
const BREAK = 0xff;
const INDEFINITE = 31;
const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
type Later = "base64url" | "base64" | "hex";
const LATER: ReadonlyMap<number, Later> = new Map([
  [TAG.base64Url, "base64url"],
  [TAG.base64, "base64"],
  [TAG.hex, "hex"],
]);

/** One document. Throws a CborError. */
export function decodeCbor(bytes: Uint8Array, schema?: Schema, mostItems = MAX_ITEMS): Json {
  if (bytes.length === 0) throw new CborError("EOF");
  const reader = new CborReader(bytes, mostItems);
  const value = reader.value(schema, 0);
  const rest = bytes.length - reader.at;
  if (rest > 0) throw new CborError(`cbor: ${rest} bytes of extraneous data starting at index ${reader.at}`);
  return value;
}

/** The documents of a sequence (RFC 8742), such as the events of a watch. */
export function* decodeCborSequence(bytes: Uint8Array): Generator<Json> {
  const reader = new CborReader(bytes, MAX_ITEMS);
  while (reader.at < bytes.length) yield reader.value(undefined, 0);
}

class CborReader {
  readonly #bytes: Buffer;
  readonly #most: number;
  at = 0;
  #major = 0;
  #info = 0;

  constructor(bytes: Uint8Array, mostItems: number) {
    this.#most = mostItems;
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  value(schema: Schema | undefined, depth: number, later?: Later): Json {
    const argument = this.#head();
    switch (this.#major) {
      case MAJOR.unsigned:
        return this.#integer(argument, false);
      case MAJOR.negative:
        return this.#integer(argument, true);
      case MAJOR.bytes:
        return this.#byteString(argument, schema, later);
      case MAJOR.text:
        return this.#utf8(this.#string(argument, MAJOR.text));
      case MAJOR.array:
        return this.#array(argument, schema?.type === "list" ? schema.items : undefined, nested(depth), later);
      case MAJOR.map:
        return this.#map(argument, schema, nested(depth), later);
      case MAJOR.tag:
        return this.#tagged(Number(argument), schema, depth, later);
      default:
        return this.#simple(argument);
    }
  }

  /** Reads the head of an item. Its argument: -1 if the length is not given. */
  #head(): number | bigint {
    const [head] = this.#take(1);
    this.#major = (head ?? 0) >> 5;
    this.#info = (head ?? 0) & 31;
    if (this.#info < 24) return this.#info;
    switch (this.#info) {
      case 24:
        return this.#take(1).readUInt8();
      case 25:
        return this.#take(2).readUInt16BE();
      case 26:
        return this.#take(4).readUInt32BE();
      case 27: {
        const long = this.#take(8).readBigUInt64BE();
        return long <= Number.MAX_SAFE_INTEGER ? Number(long) : long;
      }
      default:
        return this.#indefinite();
    }
  }

  #indefinite(): number {
    if (this.#info === INDEFINITE && this.#major >= MAJOR.bytes && this.#major <= MAJOR.map) return -1;
    if (this.#info === INDEFINITE && this.#major === MAJOR.simple) throw new CborError('cbor: unexpected "break" code');
    throw new CborError(`cbor: invalid additional information ${this.#info} for type ${TYPE_NAMES[this.#major]}`);
  }

  #take(length: number): Buffer {
    const end = this.at + length;
    if (end > this.#bytes.length) throw new CborError("unexpected EOF");
    const taken = this.#bytes.subarray(this.at, end);
    this.at = end;
    return taken;
  }

  #integer(argument: number | bigint, isNegative: boolean): Json {
    if (typeof argument === "bigint" && argument > INT64_MAX) {
      const value = isNegative ? -1n - argument : argument;
      const name = TYPE_NAMES[isNegative ? MAJOR.negative : MAJOR.unsigned];
      throw new CborError(
        `cbor: cannot unmarshal ${name} into Go value of type int64 (${value} overflows Go's int64)`,
        false,
      );
    }
    if (!isNegative) return argument;
    const value = typeof argument === "bigint" ? -1n - argument : -1 - argument;
    return typeof value === "number" && !Number.isSafeInteger(value) ? -1n - BigInt(argument) : value;
  }

  #byteString(argument: number | bigint, schema: Schema | undefined, later: Later | undefined): Json {
    const bytes = this.#string(argument, MAJOR.bytes);
    if (schema?.type === "bytes" && later !== undefined) return bytes.toString("base64");
    // What is no UTF-8 is shown as Go's JSON shows it.
    return bytes.toString(later ?? "utf8");
  }

  /** The content of a string, in one piece or in chunks. */
  #string(argument: number | bigint, major: number): Buffer {
    if (argument !== -1) return this.#take(Number(argument));
    const chunks: Buffer[] = [];
    while (!this.#ends()) {
      const length = this.#head();
      if (this.#major !== major)
        throw new CborError(
          `cbor: wrong element type ${TYPE_NAMES[this.#major]} for indefinite-length ${TYPE_NAMES[major]}`,
        );
      if (length === -1)
        throw new CborError(`cbor: indefinite-length ${TYPE_NAMES[major]} chunk is not definite-length`);
      const chunk = this.#take(Number(length));
      if (major === MAJOR.text) this.#utf8(chunk);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  #utf8(bytes: Buffer): string {
    try {
      return text.decode(bytes);
    } catch {
      throw new CborError("cbor: invalid UTF-8 string", false);
    }
  }

  #array(argument: number | bigint, inner: Schema | undefined, depth: number, later?: Later): Json {
    const items: Json[] = [];
    for (let left = argument; left === -1 ? !this.#ends() : left > 0; left = left === -1 ? -1 : Number(left) - 1) {
      if (items.length === this.#most || left > this.#most)
        throw new CborError(`cbor: exceeded max number of elements ${this.#most} for CBOR array`);
      items.push(this.value(inner, depth, later));
    }
    return items;
  }

  #map(argument: number | bigint, schema: Schema | undefined, depth: number, later?: Later): Json {
    const object: Record<string, Json> = {};
    let entries = 0;
    for (let left = argument; left === -1 ? !this.#ends() : left > 0; left = left === -1 ? -1 : Number(left) - 1) {
      if (entries === this.#most || left > this.#most)
        throw new CborError(`cbor: exceeded max number of key-value pairs ${this.#most} for CBOR map`);
      const key = this.#key(later);
      if (Object.hasOwn(object, key))
        throw new CborError(
          `cbor: found duplicate map key ${JSON.stringify(key)} at map element index ${entries}`,
          false,
        );
      setKey(object, key, this.value(partOf(schema, key), depth, later));
      entries++;
    }
    return object;
  }

  #key(later?: Later): string {
    const argument = this.#head();
    if (this.#major === MAJOR.text) return this.#utf8(this.#string(argument, MAJOR.text));
    if (this.#major === MAJOR.bytes) return this.#string(argument, MAJOR.bytes).toString(later ?? "utf8");
    throw new CborError(`cbor: cannot unmarshal ${TYPE_NAMES[this.#major]} into Go value of type string`, false);
  }

  #tagged(tag: number, schema: Schema | undefined, depth: number, later?: Later): Json {
    if (tag === TAG.bignum || tag === TAG.negativeBignum)
      throw new CborError("cbor: data item of cbor type tag is not accepted by protocol: bignum", false);
    // A tag around an item is no level of its own; one around a tag is.
    const around = (this.#bytes[this.at] ?? 0) >> 5 === MAJOR.tag ? nested(depth) : depth;
    const value = this.value(schema, around, LATER.get(tag) ?? later);
    if (tag === TAG.timeText) return timeText(value);
    return tag === TAG.timeNumber ? timeNumber(value) : value;
  }

  #simple(argument: number | bigint): Json {
    switch (this.#info) {
      case 20:
        return false;
      case 21:
        return true;
      case 22:
        return null;
      case 25:
        return finite(halfToNumber(Number(argument)));
      case 26:
        return finite(this.#bytes.readFloatBE(this.at - 4));
      case 27:
        return finite(this.#bytes.readDoubleBE(this.at - 8));
      default:
        if (this.#info === 24 && argument < 32)
          throw new CborError(`cbor: invalid simple value ${argument} for type primitives`);
        throw unacceptable(`simple value ${argument} is not recognized`);
    }
  }

  /** Whether a sequence of unknown length ends here; the mark of the end is read. */
  #ends(): boolean {
    if (this.at >= this.#bytes.length) throw new CborError("unexpected EOF");
    if (this.#bytes[this.at] !== BREAK) return false;
    this.at++;
    return true;
  }
}

function nested(depth: number): number {
  if (depth === MAX_NESTED) throw new CborError(`cbor: exceeded max nested level ${MAX_NESTED}`);
  return depth + 1;
}

function unacceptable(why: string): CborError {
  return new CborError(`cbor: data item of cbor type primitives is not accepted by protocol: ${why}`, false);
}

function finite(value: number): number {
  if (Number.isNaN(value)) throw unacceptable("floating-point NaN");
  if (!Number.isFinite(value)) throw unacceptable("floating-point infinity");
  // As JSON has it.
  return value + 0;
}

function halfToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

function timeText(value: Json): Json {
  if (typeof value === "string" && RFC_3339.test(value)) return value;
  throw new CborError(`cbor: cannot set ${JSON.stringify(value)} for time.Time`, false);
}

function timeNumber(value: Json): Json {
  const ms = typeof value === "number" ? value * 1000 : Number.NaN;
  if (!(Math.abs(ms) <= 8.64e15))
    throw new CborError("cbor: cannot unmarshal tag content into Go value of type time.Time", false);
  return new Date(ms).toISOString().replace(/\.?0*Z$/, "Z");
}
