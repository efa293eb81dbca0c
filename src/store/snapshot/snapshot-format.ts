/**
 * The bytes of a snapshot. Numbers are big-endian.
 *
 *     header   "k8tssnap" · format u32 · revision u64 · created u64 (ms since the epoch)
 *     entry    1 u8 · key length u32 · value length u32 · createRevision u64 · revision u64 · key (UTF-8) · value
 *     trailer  2 u8 · number of entries u64 · CRC-32 of all bytes before it u32
 */

import { isUtf8 } from "node:buffer";
import { MAX_KEY_BYTES } from "../model/arguments.ts";
import { StoreError } from "../model/errors.ts";
import type { Entry, Revision } from "../model/store.ts";
import type { ByteReader } from "./byte-reader.ts";

const MAGIC = Buffer.from("k8tssnap", "latin1");
const FORMAT = 1;
export const ENTRY = 1;
export const TRAILER = 2;
/** No backend accepts larger values: a longer length is damage and must not be allocated. */
const MAX_VALUE_BYTES = 256 * 1024 * 1024;

export interface Header {
  readonly revision: Revision;
  /** Milliseconds since the epoch. */
  readonly createdMs: number;
}

export function headerBytes({ revision, createdMs }: Header): Buffer {
  const fixed = Buffer.alloc(20);
  fixed.writeUInt32BE(FORMAT, 0);
  writeNumber(fixed, revision, 4);
  writeNumber(fixed, Math.floor(createdMs), 12);
  return Buffer.concat([MAGIC, fixed]);
}

export function entryBytes({ key, value, createRevision, revision }: Entry): readonly Buffer[] {
  const name = Buffer.from(key, "utf8");
  const fixed = Buffer.alloc(25);
  fixed.writeUInt8(ENTRY, 0);
  fixed.writeUInt32BE(name.length, 1);
  fixed.writeUInt32BE(value.length, 5);
  writeNumber(fixed, createRevision, 9);
  writeNumber(fixed, revision, 17);
  return [fixed, name, value];
}

/** The trailer without its checksum, which covers it. */
export function trailerBytes(count: number): Buffer {
  const fixed = Buffer.alloc(9);
  fixed.writeUInt8(TRAILER, 0);
  writeNumber(fixed, count, 1);
  return fixed;
}

export function checksumBytes(checksum: number): Buffer {
  const fixed = Buffer.alloc(4);
  fixed.writeUInt32BE(checksum);
  return fixed;
}

export async function readHeader(bytes: ByteReader): Promise<Header> {
  const magic = await bytes.take(MAGIC.length);
  if (magic === undefined || !magic.equals(MAGIC))
    throw new StoreError("Corrupt", "This is no snapshot: it does not begin like one.");
  const format = (await required(bytes, 4)).readUInt32BE();
  if (format > FORMAT) {
    const message = `The snapshot was written by a newer version, in format ${format}: this version reads formats up to ${FORMAT}.`;
    throw new StoreError("NewerFormat", message);
  }
  if (format === 0) throw corrupt("its header makes no sense");
  const fixed = await required(bytes, 16);
  return { revision: readNumber(fixed, 0), createdMs: readNumber(fixed, 8) };
}

export async function readKind(bytes: ByteReader): Promise<number> {
  return (await required(bytes, 1)).readUInt8();
}

export async function readEntry(bytes: ByteReader): Promise<Entry> {
  const fixed = await required(bytes, 24);
  const keyLength = fixed.readUInt32BE(0);
  const valueLength = fixed.readUInt32BE(4);
  if (keyLength === 0 || keyLength > MAX_KEY_BYTES || valueLength > MAX_VALUE_BYTES) {
    throw corrupt("an entry has an impossible length");
  }
  const createRevision = readNumber(fixed, 8);
  const revision = readNumber(fixed, 16);
  const name = await required(bytes, keyLength);
  if (!isUtf8(name)) throw corrupt("a key is not UTF-8");
  return { key: name.toString("utf8"), value: await required(bytes, valueLength), createRevision, revision };
}

/** Verifies the trailer: count and checksum match, and nothing follows. */
export async function checkTrailer(bytes: ByteReader, count: number): Promise<void> {
  const counted = readNumber(await required(bytes, 8), 0);
  const { checksum } = bytes;
  const stated = (await required(bytes, 4)).readUInt32BE();
  if (stated !== checksum) throw corrupt("its checksum does not match");
  if (counted !== count) throw corrupt(`it should have ${counted} entries and has ${count}`);
  if (!(await bytes.atEnd())) throw corrupt("something follows its end");
}

export function corrupt(how: string): StoreError {
  return new StoreError("Corrupt", `The snapshot is damaged: ${how}.`);
}

async function required(bytes: ByteReader, length: number): Promise<Buffer> {
  const taken = await bytes.take(length);
  if (taken === undefined) throw corrupt("its end is missing");
  return taken;
}

function writeNumber(buffer: Buffer, value: number, offset: number): void {
  buffer.writeBigUInt64BE(BigInt(value), offset);
}

function readNumber(buffer: Buffer, offset: number): number {
  const value = Number(buffer.readBigUInt64BE(offset));
  if (!Number.isSafeInteger(value)) throw corrupt("a number is out of bounds");
  return value;
}
