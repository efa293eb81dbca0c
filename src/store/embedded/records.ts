/**
 * The encoding of records in the tables. Numbers are little-endian, revisions take six bytes.
 *
 *     log      kind 1 · key length 2 · revision 6 · created 6 · previous 6 · key (UTF-8) · value · crc 4
 *     current  created 6 · revision 6 · crc 4
 *     state    head 6 · compacted 6 · format 2 · store id 16 · crc 4
 *
 * 1. The checksum covers everything before it and is verified by every read: a decoder returns a sound record or
 *    throws.
 * 2. A log record repeats its revision, and an index entry is confirmed by the log record it points to: no record is
 *    mistaken for another.
 * 3. Decoders keep nothing of the bytes they are given: the next read overwrites them.
 */

import { crc32 } from "node:zlib";
import type { Entry, Revision } from "../model/store.ts";

export interface LogRecord {
  readonly revision: Revision;
  readonly key: string;
  /** Undefined: the key was deleted. */
  readonly value: Buffer | undefined;
  readonly createRevision: Revision;
  /** The revision that this one replaced or deleted; 0 when it created the key. */
  readonly previousRevision: Revision;
}

export interface IndexEntry {
  readonly createRevision: Revision;
  readonly revision: Revision;
}

/** Undefined for a deletion. */
export function entryOf({ key, value, createRevision, revision }: LogRecord): Entry | undefined {
  return value && { key, value, createRevision, revision };
}

/** One record that every commit rewrites. */
export interface State {
  readonly head: Revision;
  /** The oldest revision that can be read. */
  readonly compacted: Revision;
  readonly format: number;
  /** A UUID. */
  readonly storeId: string;
}

/** Where an encoder writes to: the journal passes a part of its frame. */
export type Allocate = (size: number) => Buffer;

export class DamagedRecord extends Error {
  override readonly name = "DamagedRecord";
}

const PUT = 1;
const DELETE = 2;
const LOG_HEADER = 21;
const CHECKSUM = 4;
const INDEX_BYTES = 12 + CHECKSUM;
const STATE_BYTES = 30 + CHECKSUM;
/** The CRC-32 of any bytes followed by their own CRC-32. */
const SOUND = 0x2144df1c;

/** The length of a log record. */
export function logBytes({ key, value }: LogRecord): number {
  return LOG_HEADER + Buffer.byteLength(key) + (value?.length ?? 0) + CHECKSUM;
}

export function encodeLog(record: LogRecord, allocate: Allocate = Buffer.allocUnsafe): Buffer {
  const { key, value } = record;
  const bytes = allocate(logBytes(record));
  const valueStart = bytes.length - CHECKSUM - (value?.length ?? 0);
  const keyBytes = valueStart - LOG_HEADER;
  bytes[0] = value === undefined ? DELETE : PUT;
  bytes.writeUInt16LE(keyBytes, 1);
  bytes.writeUIntLE(record.revision, 3, 6);
  bytes.writeUIntLE(record.createRevision, 9, 6);
  bytes.writeUIntLE(record.previousRevision, 15, 6);
  bytes.write(key, LOG_HEADER, "utf8");
  if (value !== undefined) bytes.set(value, valueStart);
  return sealed(bytes);
}

/** Small values share Node's buffer slabs: one value that lives long keeps those that were read with it alive. */
export function decodeLog(stored: Uint8Array): LogRecord {
  const bytes = Buffer.allocUnsafe(stored.length);
  view(stored).copy(bytes);
  check(bytes, LOG_HEADER + CHECKSUM);
  const valueStart = LOG_HEADER + bytes.readUInt16LE(1);
  const valueEnd = bytes.length - CHECKSUM;
  const kind = bytes[0];
  if (valueStart > valueEnd || (kind !== PUT && kind !== DELETE)) throw new DamagedRecord("it is malformed");
  return {
    revision: bytes.readUIntLE(3, 6),
    key: bytes.toString("utf8", LOG_HEADER, valueStart),
    value: kind === PUT ? bytes.subarray(valueStart, valueEnd) : undefined,
    createRevision: bytes.readUIntLE(9, 6),
    previousRevision: bytes.readUIntLE(15, 6),
  };
}

export function encodeIndex(entry: IndexEntry): Buffer {
  const bytes = Buffer.allocUnsafe(INDEX_BYTES);
  bytes.writeUIntLE(entry.createRevision, 0, 6);
  bytes.writeUIntLE(entry.revision, 6, 6);
  return sealed(bytes);
}

export function decodeIndex(stored: Uint8Array): IndexEntry {
  const bytes = view(stored);
  check(bytes, INDEX_BYTES);
  return { createRevision: bytes.readUIntLE(0, 6), revision: bytes.readUIntLE(6, 6) };
}

export function encodeState(state: State): Buffer {
  const bytes = Buffer.allocUnsafe(STATE_BYTES);
  bytes.writeUIntLE(state.head, 0, 6);
  bytes.writeUIntLE(state.compacted, 6, 6);
  bytes.writeUInt16LE(state.format, 12);
  bytes.write(state.storeId.replaceAll("-", ""), 14, "hex");
  return sealed(bytes);
}

export function decodeState(stored: Uint8Array): State {
  const bytes = view(stored);
  check(bytes, STATE_BYTES);
  return {
    head: bytes.readUIntLE(0, 6),
    compacted: bytes.readUIntLE(6, 6),
    format: bytes.readUInt16LE(12),
    storeId: bytes.toString("hex", 14, 30).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"),
  };
}

/** Revisions are keys of eight bytes, big-endian: they sort as numbers. */
export function writeRevisionKey(revision: Revision, target: Buffer, start: number): number {
  target.writeUInt16BE(0, start);
  target.writeUIntBE(revision, start + 2, 6);
  return start + 8;
}

export function readRevisionKey(source: Buffer, start: number): Revision {
  return source.readUIntBE(start + 2, 6);
}

function sealed(bytes: Buffer): Buffer {
  const end = bytes.length - CHECKSUM;
  bytes.writeUInt32LE(crc32(bytes.subarray(0, end)), end);
  return bytes;
}

function check(bytes: Buffer, minLength: number): void {
  if (bytes.length < minLength) throw new DamagedRecord("it is too short");
  if (crc32(bytes) !== SOUND) throw new DamagedRecord("its checksum does not match");
}

/** lmdb lends a buffer that is larger than the `length` it shows: only a view of that length is safe to use. */
function view(stored: Uint8Array): Buffer {
  return Buffer.from(stored.buffer as ArrayBuffer, stored.byteOffset, stored.length);
}
