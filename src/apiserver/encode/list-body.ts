/**
 * The JSON of a list, joined from the lines of its objects.
 *
 * 1. Nothing is parsed or encoded, and the text of an object is copied once.
 * 2. It comes in pieces: the first is sent while the network is not ready for the last.
 * 3. The pieces of a page are kept as long as the page: see `ResourceCache.lastPage`.
 *
 * Speed (`bench/apiserver.ts`, list; 3,000 Pods, 2.3 MB, 2026-11-18): 0.6 ms of cpu, 0.003 ms if the page is kept;
 * `Buffer.concat` of the lines takes 1.2 ms, parsing and encoding them 22 ms. `list-body.test.ts` compares the parsed
 * list with its objects.
 */
import { apiVersionOf, type Kind } from "#api";
import type { StoredObject } from "../cache/stored-object.ts";

const PIECE_BYTES = 256 * 1024;
const COMMA = 0x2c;
const OPENING_BRACE = 0x7b;
export const LIST_END = Buffer.from("]}\n");

export function listBody(kind: Kind, metadata: object, objects: readonly StoredObject[]): Buffer[] {
  return [listHead(kind, metadata), ...itemPieces(objects, isWhole(kind))];
}

export function listHead(kind: Kind, metadata: object): Buffer {
  const name = kind.listKind ?? `${kind.kind}List`;
  const text = `{"kind":"${name}","apiVersion":"${apiVersionOf(kind)}","metadata":${JSON.stringify(metadata)},"items":[`;
  return Buffer.from(text);
}

/** Of all items with their commas. Throws if one of the objects cannot be read. */
export function itemsLength(kind: Kind, objects: readonly StoredObject[]): number {
  const whole = isWhole(kind);
  let length = 0;
  for (const stored of objects) length += itemLength(stored, whole);
  return length;
}

/** Some items in one piece, with commas between them. */
export function runOfItems(kind: Kind, objects: readonly StoredObject[]): Buffer {
  const whole = isWhole(kind);
  const run = Buffer.allocUnsafeSlow(itemsLength(kind, objects));
  let used = 0;
  for (const [at, stored] of objects.entries()) used = copyItem(stored, run, used, whole, at > 0);
  return run.subarray(0, used);
}

/** Items of custom resources have kind and apiVersion, those of built-in kinds do not. */
function isWhole(kind: Kind): boolean {
  return kind.schema.goType === undefined;
}

const pieces = new WeakMap<readonly StoredObject[], readonly Buffer[]>();

function itemPieces(objects: readonly StoredObject[], whole: boolean): readonly Buffer[] {
  const known = pieces.get(objects);
  if (known !== undefined) return known;
  const made = makePieces(objects, whole);
  pieces.set(objects, made);
  return made;
}

function makePieces(objects: readonly StoredObject[], whole: boolean): readonly Buffer[] {
  const made: Buffer[] = [];
  let left = LIST_END.length;
  for (const stored of objects) left += itemLength(stored, whole);
  let piece = Buffer.alloc(0);
  let used = 0;
  for (const stored of objects) {
    const length = itemLength(stored, whole);
    if (used + length > piece.length) {
      made.push(piece.subarray(0, used));
      piece = Buffer.allocUnsafeSlow(Math.max(length, Math.min(left, PIECE_BYTES)));
      used = 0;
    }
    left -= length;
    used = copyItem(stored, piece, used, whole, stored !== objects[0]);
  }
  made.push(piece.subarray(0, used), LIST_END);
  return made.filter(({ length }) => length > 0);
}

/** Returns where the next one goes. */
function copyItem(stored: StoredObject, to: Buffer, at: number, whole: boolean, comma: boolean): number {
  let used = at;
  if (comma) to[used++] = COMMA;
  if (!whole) to[used++] = OPENING_BRACE;
  const { line } = stored;
  return used + line.copy(to, used, whole ? 0 : stored.metadataAt, line.length - 1);
}

/** With a comma before it, and without its newline. */
function itemLength({ line, metadataAt }: StoredObject, whole: boolean): number {
  return whole ? line.length : line.length - metadataAt + 1;
}
