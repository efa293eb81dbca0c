/**
 * A gzip file (RFC 1952) made of parts that were compressed each by itself.
 *
 * 1. A part is deflated (RFC 1951) without reference to what is before it, and ends on a byte: parts can be put one
 *    after the other in any order, and be used many times.
 * 2. The checksum of the whole follows from those of the parts, without reading their bytes again.
 */
import { constants, crc32, deflateRawSync } from "node:zlib";

export interface GzipPart {
  readonly deflated: Buffer;
  readonly crc: number;
  /** Of the plain bytes. */
  readonly length: number;
  /** Moves a checksum past this part. */
  readonly shift: number;
}

const HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255]);
/** An empty block that says that it is the last one. */
const LAST_BLOCK = [0x03, 0x00];
const LARGEST_STORED = 0xffff;

/** On this thread: for some 50 KiB, handing them to another one and back costs four times the compression itself. */
export function compressedPart(plain: Buffer): GzipPart {
  return part(plain, deflateRawSync(plain, { level: constants.Z_BEST_SPEED, finishFlush: constants.Z_SYNC_FLUSH }));
}

/** For a few bytes that are used once. */
export function storedPart(plain: Buffer): GzipPart {
  const blocks: Buffer[] = [];
  for (let at = 0; at < plain.length; at += LARGEST_STORED) {
    const bytes = plain.subarray(at, at + LARGEST_STORED);
    const head = Buffer.alloc(5);
    head.writeUInt16LE(bytes.length, 1);
    head.writeUInt16LE(bytes.length ^ 0xffff, 3);
    blocks.push(head, bytes);
  }
  return part(plain, Buffer.concat(blocks));
}

function part(plain: Buffer, deflated: Buffer): GzipPart {
  return { deflated, crc: crc32(plain), length: plain.length, shift: power(plain.length) };
}

export function gzipOf(parts: readonly GzipPart[]): Buffer {
  let crc = 0;
  let length = 0;
  for (const part of parts) {
    crc = multiply(part.shift, crc) ^ part.crc;
    length += part.length;
  }
  const tail = Buffer.from([...LAST_BLOCK, 0, 0, 0, 0, 0, 0, 0, 0]);
  tail.writeUInt32LE(crc >>> 0, 2);
  tail.writeUInt32LE(length % 2 ** 32, 6);
  return Buffer.concat([HEAD, ...parts.map(({ deflated }) => deflated), tail]);
}

/** CRC-32 calculates with polynomials over GF(2), modulo this one; the highest bit is the coefficient of x⁰. */
const POLYNOMIAL = 0xedb88320;
const ONE = 1 << 31;
/** x to the powers 1, 2, 4, 8 … */
const SQUARES = Array.from({ length: 32 }, () => 0);
SQUARES[0] = 1 << 30;
for (let n = 1; n < SQUARES.length; n++) SQUARES[n] = multiply(SQUARES[n - 1] as number, SQUARES[n - 1] as number);

function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = ONE >>> 0; bit !== 0 && (a & (bit | (bit - 1))) !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted;
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ POLYNOMIAL;
  }
  return product;
}

/** x to the power of the bits in so many bytes. */
function power(bytes: number): number {
  let result = ONE;
  for (let left = bytes, n = 3; left > 0; left = Math.floor(left / 2), n = (n + 1) % 32) {
    if (left % 2 === 1) result = multiply(SQUARES[n] as number, result);
  }
  return result;
}
