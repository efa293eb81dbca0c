/** Bytes that came from the other thread. */
import type { Entry } from "#store";
import { asBuffer } from "../encode/as-buffer.ts";
import type { StoredValue } from "./protocol.ts";

/** Nobody reads when the object was created. */
export function entryOf({ key, revision, value }: StoredValue): Entry {
  return { key, createRevision: revision, revision, value: asBuffer(value) };
}
