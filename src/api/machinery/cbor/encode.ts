/**
 * JSON values as CBOR (RFC 8949), in the form of Kubernetes.
 *
 * 1. Every document begins with the self-described tag. Integers and lengths take the fewest bytes, floats the fewest
 *    that keep their value; lengths are always given beforehand.
 * 2. Texts and keys are byte strings: Go does not check that its strings are UTF-8.
 * 3. Bytes, which JSON has in base64, are byte strings with tag 22. The schema says which those are; without one base64
 *    is text.
 * 4. Keys stand in the order of the value.
 */
import { isObject, type Json, type JsonObject } from "../json/json.ts";
import { getKey } from "../json/own-key.ts";
import { decodeBase64 } from "../scalars/base64.ts";
import type { ObjectSchema, Schema } from "../schema/schema.ts";
import { MAJOR, SELF_DESCRIBED, TAG } from "./item.ts";

const INT64_LIMIT = 2n ** 63n;
const MAX_UINT32 = 0xffff_ffff;

const toUtf8 = new TextEncoder();

/** A document: with the self-described tag. */
export function encodeCbor(value: Json, schema?: Schema): Uint8Array<ArrayBuffer> {
  const writer = new CborWriter();
  writer.selfDescribed();
  writer.value(value, schema);
  return writer.finish();
}

/** A data item without the tag, such as an item of a list. */
export function encodeCborItem(value: Json, schema?: Schema): Uint8Array<ArrayBuffer> {
  const writer = new CborWriter();
  writer.value(value, schema);
  return writer.finish();
}

export class CborWriter {
  #bytes = new Uint8Array(1024);
  #view = new DataView(this.#bytes.buffer);
  #at = 0;

  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#at);
  }

  selfDescribed(): void {
    this.#room(SELF_DESCRIBED.length);
    for (const byte of SELF_DESCRIBED) this.#bytes[this.#at++] = byte;
  }

  /** Data items that are encoded already. */
  raw(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  text(text: string): void {
    const most = text.length * 3;
    this.#room(most + 9);
    // Short texts are most often ASCII: their length is known before they are written.
    if (most < 24 || text.length === 0) {
      const start = this.#at++;
      const { written } = toUtf8.encodeInto(text, this.#bytes.subarray(this.#at));
      this.#bytes[start] = (MAJOR.bytes << 5) | written;
      this.#at += written;
      return;
    }
    const bytes = toUtf8.encode(text);
    this.head(MAJOR.bytes, bytes.length);
    this.raw(bytes);
  }

  head(major: number, argument: number | bigint): void {
    this.#room(9);
    const type = major << 5;
    const [bytes, view] = [this.#bytes, this.#view];
    if (argument < 24) bytes[this.#at++] = type | Number(argument);
    else if (argument <= 0xff) {
      bytes[this.#at++] = type | 24;
      bytes[this.#at++] = Number(argument);
    } else if (argument <= 0xffff) {
      bytes[this.#at] = type | 25;
      view.setUint16(this.#at + 1, Number(argument));
      this.#at += 3;
    } else if (argument <= MAX_UINT32) {
      bytes[this.#at] = type | 26;
      view.setUint32(this.#at + 1, Number(argument));
      this.#at += 5;
    } else {
      bytes[this.#at] = type | 27;
      view.setBigUint64(this.#at + 1, BigInt(argument));
      this.#at += 9;
    }
  }

  value(value: Json, schema?: Schema): void {
    if (typeof value === "string") {
      if (schema?.type === "bytes") this.#base64(value);
      else this.text(value);
    } else if (typeof value === "number" || typeof value === "bigint") this.#number(value);
    else if (typeof value === "boolean") this.#simple(value ? 21 : 20);
    else if (Array.isArray(value)) this.#array(value, schema);
    else if (isObject(value)) this.#map(value, schema);
    else this.#simple(22);
  }

  #array(items: readonly Json[], schema: Schema | undefined): void {
    this.head(MAJOR.array, items.length);
    const inner = schema?.type === "list" ? schema.items : undefined;
    for (const item of items) this.value(item, inner);
  }

  #map(object: JsonObject, schema: Schema | undefined): void {
    const keys = Object.keys(object);
    this.head(MAJOR.map, keys.length);
    for (const key of keys) {
      this.text(key);
      this.value(getKey(object, key) ?? null, partOf(schema, key));
    }
  }

  #base64(text: string): void {
    this.#room(1);
    this.#bytes[this.#at++] = (MAJOR.tag << 5) | TAG.base64;
    const bytes = decodeBase64(text);
    this.head(MAJOR.bytes, bytes.length);
    this.raw(bytes);
  }

  #number(value: number | bigint): void {
    if (typeof value === "number" && !Number.isSafeInteger(value)) this.#float(value);
    else if (value < -INT64_LIMIT || value >= INT64_LIMIT) throw new RangeError(`${value} is no 64-bit integer`);
    else if (value >= 0) this.head(MAJOR.unsigned, value);
    else this.head(MAJOR.negative, typeof value === "bigint" ? -1n - value : -1 - value);
  }

  #float(value: number): void {
    if (!Number.isFinite(value)) throw new RangeError(`${value} has no form in JSON`);
    this.#room(9);
    const half = halfOf(value);
    if (half !== undefined) {
      this.#bytes[this.#at] = (MAJOR.simple << 5) | 25;
      this.#view.setUint16(this.#at + 1, half);
      this.#at += 3;
    } else if (Math.fround(value) === value) {
      this.#bytes[this.#at] = (MAJOR.simple << 5) | 26;
      this.#view.setFloat32(this.#at + 1, value);
      this.#at += 5;
    } else {
      this.#bytes[this.#at] = (MAJOR.simple << 5) | 27;
      this.#view.setFloat64(this.#at + 1, value);
      this.#at += 9;
    }
  }

  #simple(value: number): void {
    this.#room(1);
    this.#bytes[this.#at++] = (MAJOR.simple << 5) | value;
  }

  #room(size: number): void {
    if (this.#at + size <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#at + size));
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

/** The schema of a field or of a map's value. */
export function partOf(schema: Schema | undefined, key: string): Schema | undefined {
  if (schema === undefined) return undefined;
  if (schema.type === "map") return schema.values;
  return schema.type === "object" ? (schema as ObjectSchema).fields.get(key)?.schema : undefined;
}

/** A half-precision float of the same value, as its bits; undefined if there is none. */
function halfOf(value: number): number | undefined {
  const float = new DataView(new ArrayBuffer(4));
  float.setFloat32(0, value);
  if (float.getFloat32(0) !== value) return undefined;
  const bits = float.getUint32(0);
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 127;
  const fraction = bits & 0x7f_ffff;
  if ((bits & 0x7fff_ffff) === 0) return sign;
  if (exponent >= -14 && exponent <= 15)
    return (fraction & 0x1fff) === 0 ? sign | ((exponent + 15) << 10) | (fraction >>> 13) : undefined;
  // Subnormal: the leading one becomes part of the fraction.
  if (exponent < -24 || exponent > 15) return undefined;
  const shift = -1 - exponent;
  const whole = fraction | 0x80_0000;
  return (whole & ((1 << shift) - 1)) === 0 ? sign | (whole >>> shift) : undefined;
}
