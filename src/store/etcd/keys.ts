/**
 * Keys and key ranges as etcd's bytes, and etcd's key-values as entries.
 *
 * 1. Keys that begin with a NUL are the store's own. They come before all others, so callers' ranges simply start after
 *    them: no list, count or watch of a caller ever shows one.
 * 2. A value does not keep a much larger message alive.
 */

import { checkKey } from "../model/arguments.ts";
import type { Change, Entry } from "../model/store.ts";
import type { Message } from "./rpc.ts";

/** As the end of a range: no end. As its start: before all keys. */
export const NUL = Buffer.from([0]);
const FIRST_OF_CALLERS = Buffer.from([1]);

/** The key by which API servers that share an etcd agree which one compacts. */
export const COMPACTION_KEY = Buffer.from("\0k8ts/compact_rev_key");

/** By which writes in doubt are settled: see writes.ts. */
export const FENCE_KEY = Buffer.from("\0k8ts/fence");

export interface KeyRange {
  readonly key: Buffer;
  readonly rangeEnd: Buffer;
}

export function ownKey(key: string): boolean {
  return key.charCodeAt(0) === 0;
}

export function keyBytes(key: string): Buffer {
  checkKey(key);
  checkNotOwn(key);
  return Buffer.from(key);
}

/** All keys with the prefix that come after `after`; undefined if there can be none. */
export function rangeOf(prefix: string, after?: string): KeyRange | undefined {
  checkNotOwn(prefix);
  const first = prefix === "" ? FIRST_OF_CALLERS : Buffer.from(prefix);
  const rangeEnd = endOf(prefix);
  if (after === undefined) return { key: first, rangeEnd };
  const next = Buffer.from(`${after}\0`);
  const key = Buffer.compare(next, first) > 0 ? next : first;
  return rangeEnd.equals(NUL) || Buffer.compare(key, rangeEnd) < 0 ? { key, rangeEnd } : undefined;
}

/** The first key after all with the prefix. UTF-8 has no byte 0xff, so the last byte can always be raised. */
function endOf(prefix: string): Buffer {
  const end = Buffer.from(prefix);
  if (end.length === 0) return NUL;
  end.writeUInt8(end.readUInt8(end.length - 1) + 1, end.length - 1);
  return end;
}

export function checkNotOwn(text: string): void {
  if (ownKey(text)) throw new RangeError("Keys that begin with a NUL are the store's own.");
}

export function entryOf({ key, value, createRevision, modRevision }: Message<"KeyValue">): Entry {
  return {
    key: key.toString(),
    value: detached(value),
    createRevision: Number(createRevision),
    revision: Number(modRevision),
  };
}

export function changeOf({ kv, prevKv, type }: Message<"Event">): Change {
  if (kv === null) throw new TypeError("An event of etcd has no key.");
  const previous = prevKv === null ? undefined : entryOf(prevKv);
  if (type === 0) {
    const entry = entryOf(kv);
    return { key: entry.key, revision: entry.revision, entry, previous };
  }
  return { key: kv.key.toString(), revision: Number(kv.modRevision), entry: undefined, previous };
}

/** Received values are views of the whole message. A value that is most of it is kept, a small part is copied. */
function detached(value: Buffer): Buffer {
  return value.length * 2 >= value.buffer.byteLength ? value : Buffer.from(value);
}
