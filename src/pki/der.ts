/**
 * The part of DER (ITU-T X.690) that certificates are made of: a writer for each type, and a reader that walks what
 * node:crypto does not show, such as the exact bytes of a subject.
 *
 * 1. The encoding is unique: lengths and integers are minimal, so signatures over it are reproducible.
 * 2. The reader never reads past the given bytes.
 */

const CONSTRUCTED = 0x20;
const CONTEXT = 0x80;

export function tlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Buffer.from([tag]), length(size), ...parts]);
}

function length(size: number): Buffer {
  if (size < 0x80) return Buffer.from([size]);
  const bytes = unsignedBytes(size);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

function unsignedBytes(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return bytes;
}

export const sequence = (...parts: readonly Buffer[]): Buffer => tlv(0x30, ...parts);
export const set = (...parts: readonly Buffer[]): Buffer => tlv(0x31, ...parts);
export const octetString = (content: Buffer): Buffer => tlv(0x04, content);
export const utf8String = (text: string): Buffer => tlv(0x0c, Buffer.from(text, "utf8"));
export const derNull = (): Buffer => tlv(0x05);
export const derTrue = (): Buffer => tlv(0x01, Buffer.from([0xff]));

/** `[n]` around other elements. */
export const explicit = (n: number, ...parts: readonly Buffer[]): Buffer => tlv(CONTEXT | CONSTRUCTED | n, ...parts);
/** `[n]` in place of a primitive's own tag. */
export const implicit = (n: number, content: Buffer): Buffer => tlv(CONTEXT | n, content);

/** A whole number that is not negative, given as its bytes, highest first. */
export function integer(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const significant = first === -1 ? Buffer.from([0]) : bytes.subarray(first);
  const negativeLooking = ((significant[0] ?? 0) & 0x80) !== 0;
  return negativeLooking ? tlv(0x02, Buffer.from([0]), significant) : tlv(0x02, significant);
}

export const bitString = (content: Buffer): Buffer => tlv(0x03, Buffer.from([0]), content);

/** Named bits as X.509 uses them, bit 0 first; unused bits at the end are cut off, as DER asks for. */
export function namedBits(bits: readonly number[]): Buffer {
  const highest = Math.max(...bits);
  const content = Buffer.alloc(Math.floor(highest / 8) + 1);
  for (const bit of bits) content[bit >> 3] = (content[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  return tlv(0x03, Buffer.from([7 - (highest & 7)]), content);
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const groups = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) groups.unshift(0x80 | (left & 0x7f));
    return groups;
  });
  return tlv(0x06, Buffer.from(bytes));
}

/** RFC 5280 4.1.2.5: UTCTime up to the year 2049, GeneralizedTime after it, both in whole seconds. */
export function time(epochMs: number): Buffer {
  const digits = new Date(epochMs).toISOString().replace(/[-:T]|\.\d+/g, "");
  const year = Number(digits.slice(0, 4));
  return year < 2050 ? tlv(0x17, Buffer.from(digits.slice(2))) : tlv(0x18, Buffer.from(digits));
}

export interface Element {
  readonly tag: number;
  readonly content: Buffer;
  /** Tag and length included. */
  readonly raw: Buffer;
}

/** The elements that stand one after the other in `bytes`. */
export function elements(bytes: Buffer): Element[] {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const element = elementAt(bytes, at);
    found.push(element);
    at += element.raw.length;
  }
  return found;
}

function elementAt(bytes: Buffer, at: number): Element {
  const tag = bytes[at];
  let size = bytes[at + 1];
  let start = at + 2;
  if (tag === undefined || size === undefined) throw new RangeError("a DER element is cut off");
  if (size > 0x80) {
    const lengthBytes = size & 0x7f;
    if (lengthBytes > 4 || start + lengthBytes > bytes.length) throw new RangeError("a DER length is not valid");
    size = bytes.readUIntBE(start, lengthBytes);
    start += lengthBytes;
  } else if (size === 0x80) {
    throw new RangeError("a DER length is not valid");
  }
  if (start + size > bytes.length) throw new RangeError("a DER element is cut off");
  return { tag, content: bytes.subarray(start, start + size), raw: bytes.subarray(at, start + size) };
}
