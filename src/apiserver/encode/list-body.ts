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
const END = Buffer.from("]}\n");

export function listBody(kind: Kind, metadata: object, objects: readonly StoredObject[]): Buffer[] {
  const name = kind.listKind ?? `${kind.kind}List`;
  const head = Buffer.from(
    `{"kind":"${name}","apiVersion":"${apiVersionOf(kind)}","metadata":${JSON.stringify(metadata)},"items":[`,
  );
  // Items of custom resources have kind and apiVersion, those of built-in kinds do not.
  return [head, ...itemPieces(objects, kind.schema.goType === undefined)];
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
  let left = END.length;
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
    if (stored !== objects[0]) piece[used++] = COMMA;
    if (!whole) piece[used++] = OPENING_BRACE;
    const { line } = stored;
    used += line.copy(piece, used, whole ? 0 : stored.metadataAt, line.length - 1);
  }
  made.push(piece.subarray(0, used), END);
  return made.filter(({ length }) => length > 0);
}

/** With a comma before it, and without its newline. */
function itemLength({ line, metadataAt }: StoredObject, whole: boolean): number {
  return whole ? line.length : line.length - metadataAt + 1;
}
