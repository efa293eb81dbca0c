/**
 * Empty lists and maps that a client sent. Go's JSON leaves them out, and so do objects here; but messages of
 * validation print them, and a few rules refuse a field that is set, even to nothing.
 *
 * They stand under a symbol: JSON and comparisons do not see it, and a copy by spread has it too.
 */
import type { Json } from "../json/json.ts";

const EMPTY = Symbol("empty lists and maps");

interface Holder {
  [EMPTY]?: Readonly<Record<string, Json>>;
}

export function noteEmpty(holder: object, name: string, value: Json): void {
  const open = holder as Holder;
  open[EMPTY] = { ...open[EMPTY], [name]: value };
}

/** The empty list or map that was sent for a field, if the field is still absent. */
export function emptySent(holder: object | undefined, name: string): Json | undefined {
  if (holder === undefined || name in holder) return undefined;
  return (holder as Holder)[EMPTY]?.[name];
}
