/** Bytes that came from the other thread. */
import type { Entry } from "#store";
import type { StoredValue } from "./protocol.ts";

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Nobody reads when the object was created. */
export function entryOf({ key, revision, value }: StoredValue): Entry {
  return { key, createRevision: revision, revision, value: asBuffer(value) };
}
