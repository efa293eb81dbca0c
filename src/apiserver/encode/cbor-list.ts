/**
 * A list as CBOR, joined from its items: that of an object is made when a list first needs it, and kept as long as the
 * object. `cbor-list.test.ts` compares with the encoding of the whole list.
 */
import { CBOR_MAJOR, CborWriter, encodeCborItem, type JsonObject, type Kind, type KubeObject } from "#api";
import type { StoredObject } from "../cache/stored-object.ts";
import { asBuffer } from "./as-buffer.ts";

const items = new WeakMap<StoredObject, Uint8Array>();

/** `list`: without items. For kinds with a Go type that are stored in their own form. */
export function cborList(
  kind: Kind,
  { items: _, ...list }: JsonObject,
  objects: readonly StoredObject[],
  read: (stored: StoredObject) => KubeObject,
): Buffer {
  const writer = new CborWriter();
  writer.selfDescribed();
  const fields = Object.entries(list);
  writer.head(CBOR_MAJOR.map, fields.length + 1);
  for (const [name, value] of fields) {
    writer.text(name);
    writer.value(value);
  }
  writer.text("items");
  writer.head(CBOR_MAJOR.array, objects.length);
  for (const stored of objects) writer.raw(itemOf(kind, stored, read));
  return asBuffer(writer.finish());
}

/** The list has kind and apiVersion. */
function itemOf(kind: Kind, stored: StoredObject, read: (stored: StoredObject) => KubeObject): Uint8Array {
  let item = items.get(stored);
  if (item === undefined) {
    const { kind: _kind, apiVersion: _version, ...rest } = read(stored) as unknown as JsonObject;
    item = encodeCborItem(rest, kind.schema);
    items.set(stored, item);
  }
  return item;
}
