/**
 * Entries, changes and writes as bytes, for messages between threads: one block of memory for a whole message.
 *
 * 1. A block that is shared (`SharedArrayBuffer`) is not copied: all threads read the values where they are.
 * 2. The values of what is unpacked lie in the block, which lives as long as one of them: blocks are small, and hold
 *    what was written together.
 */
import type { Change, Entry, Revision } from "../model/store.ts";

/** Key's and value's lengths, and two revisions. */
const ENTRY_BYTES = 4 + 4 + 8 + 8;
const BLOCK_BYTES = 64 * 1024;
/** What a change has: an entry, one before it. */
const HAS_ENTRY = 1;
const HAS_PREVIOUS = 2;
const CHANGE_BYTES = 1 + 8;

export type Packed = SharedArrayBuffer;

function entryBytes({ key, value }: Entry): number {
  return ENTRY_BYTES + Buffer.byteLength(key) + value.length;
}

/** Writes and reads from the start of a block on. */
class Cursor {
  readonly bytes: Buffer;
  #at = 0;

  constructor(block: Packed) {
    this.bytes = Buffer.from(block);
  }

  get done(): boolean {
    return this.#at >= this.bytes.length;
  }

  putByte(value: number): void {
    this.bytes[this.#at++] = value;
  }

  byte(): number {
    return this.bytes[this.#at++] ?? 0;
  }

  putNumber(value: number): void {
    this.#at = this.bytes.writeDoubleLE(value, this.#at);
  }

  number(): number {
    this.#at += 8;
    return this.bytes.readDoubleLE(this.#at - 8);
  }

  putText(text: string): void {
    const length = this.bytes.write(text, this.#at + 4);
    this.bytes.writeUInt32LE(length, this.#at);
    this.#at += 4 + length;
  }

  text(): string {
    const [from, to] = this.#part();
    return this.bytes.toString("utf8", from, to);
  }

  putValue(value: Buffer): void {
    this.#at = this.bytes.writeUInt32LE(value.length, this.#at);
    this.#at += value.copy(this.bytes, this.#at);
  }

  value(): Buffer {
    const [from, to] = this.#part();
    return this.bytes.subarray(from, to);
  }

  putEntry({ key, value, revision, createRevision }: Entry): void {
    this.putText(key);
    this.putNumber(revision);
    this.putNumber(createRevision);
    this.putValue(value);
  }

  entry(): Entry {
    const key = this.text();
    const revision = this.number();
    const createRevision = this.number();
    return { key, value: this.value(), createRevision, revision };
  }

  #part(): readonly [number, number] {
    const from = this.#at + 4;
    this.#at = from + this.bytes.readUInt32LE(this.#at);
    return [from, this.#at];
  }
}

/**
 * The same items in parts that fill a block each: an object that stays for long keeps its block, and no more than that.
 */
export function inBlocks<T>(items: readonly T[], bytesOf: (item: T) => number): readonly (readonly T[])[] {
  const parts: T[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const own = bytesOf(item);
    if (bytes + own > BLOCK_BYTES) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(item);
    bytes += own;
  }
  return parts;
}

export function packPage(entries: readonly Entry[]): readonly Packed[] {
  return inBlocks(entries, ({ value }) => value.length).map(packEntries);
}

export function packLog(changes: readonly Change[], withPrevious: boolean): readonly Packed[] {
  const parts = inBlocks(changes, ({ entry }) => entry?.value.length ?? 0);
  return parts.map((part) => packChanges(part, withPrevious));
}

export function packEntries(entries: readonly Entry[]): Packed {
  let size = 0;
  for (const entry of entries) size += entryBytes(entry);
  const block = new SharedArrayBuffer(size);
  const cursor = new Cursor(block);
  for (const entry of entries) cursor.putEntry(entry);
  return block;
}

export function unpackEntries(block: Packed): Entry[] {
  const cursor = new Cursor(block);
  const entries: Entry[] = [];
  while (!cursor.done) entries.push(cursor.entry());
  return entries;
}

/** `withPrevious`: with the entries that were there before, which are as large again. */
function packChanges(changes: readonly Change[], withPrevious: boolean): Packed {
  let size = 0;
  const befores = withPrevious ? changes.map(({ previous }) => previous) : [];
  for (const [i, { key, entry }] of changes.entries()) {
    size += CHANGE_BYTES + (entry === undefined ? 4 + Buffer.byteLength(key) : entryBytes(entry));
    const previous = befores[i];
    if (previous !== undefined) size += entryBytes(previous);
  }
  const block = new SharedArrayBuffer(size);
  const cursor = new Cursor(block);
  for (const [i, { key, revision, entry }] of changes.entries()) {
    const previous = befores[i];
    cursor.putByte((entry === undefined ? 0 : HAS_ENTRY) + (previous === undefined ? 0 : HAS_PREVIOUS));
    cursor.putNumber(revision);
    if (entry === undefined) cursor.putText(key);
    else cursor.putEntry(entry);
    if (previous !== undefined) cursor.putEntry(previous);
  }
  return block;
}

export function unpackChanges(block: Packed): Change[] {
  const cursor = new Cursor(block);
  const changes: Change[] = [];
  while (!cursor.done) {
    const has = cursor.byte();
    const revision = cursor.number();
    const entry = (has & HAS_ENTRY) === 0 ? undefined : cursor.entry();
    const key = entry?.key ?? cursor.text();
    const previous = (has & HAS_PREVIOUS) === 0 ? undefined : cursor.entry();
    changes.push({ key, revision, entry, previous });
  }
  return changes;
}

/** A write under way: without `value` a deletion, without `expected` a creation. */
export interface Write {
  readonly id: number;
  readonly key: string;
  readonly value: Buffer | undefined;
  readonly expected: Revision | undefined;
  readonly timeoutMs: number | undefined;
}

const HAS_VALUE = 1;
const HAS_EXPECTED = 2;
const HAS_TIMEOUT = 4;
const WRITE_BYTES = 1 + 8 + 8 + 8 + 4 + 4;

export function packWrites(writes: readonly Write[]): Packed {
  let size = 0;
  for (const { key, value } of writes) size += WRITE_BYTES + Buffer.byteLength(key) + (value?.length ?? 0);
  const block = new SharedArrayBuffer(size);
  const cursor = new Cursor(block);
  for (const { id, key, value, expected, timeoutMs } of writes) {
    const has = (value === undefined ? 0 : HAS_VALUE) + (expected === undefined ? 0 : HAS_EXPECTED);
    cursor.putByte(has + (timeoutMs === undefined ? 0 : HAS_TIMEOUT));
    cursor.putNumber(id);
    cursor.putNumber(expected ?? 0);
    cursor.putNumber(timeoutMs ?? 0);
    cursor.putText(key);
    cursor.putValue(value ?? NOTHING);
  }
  return block;
}

const NOTHING = Buffer.alloc(0);

/** Values are copies: backends give them to native code, which does not take shared memory. */
export function unpackWrites(block: Packed): Write[] {
  const cursor = new Cursor(block);
  const writes: Write[] = [];
  while (!cursor.done) {
    const has = cursor.byte();
    const id = cursor.number();
    const expected = cursor.number();
    const timeoutMs = cursor.number();
    const key = cursor.text();
    const value = cursor.value();
    writes.push({
      id,
      key,
      value: (has & HAS_VALUE) === 0 ? undefined : Buffer.from(value),
      expected: (has & HAS_EXPECTED) === 0 ? undefined : expected,
      timeoutMs: (has & HAS_TIMEOUT) === 0 ? undefined : timeoutMs,
    });
  }
  return writes;
}
