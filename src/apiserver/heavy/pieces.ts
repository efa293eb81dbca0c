/**
 * A JSON value in pieces: what one thread sends another, so that neither has to write or parse all of it at a time.
 *
 *     value ──► cut ──► pieces ──► join ──► an equal value
 *
 * 1. A piece is JSON text of its own: the containers that are open where it begins are opened again at its start, and
 *    closed at its end. `path` says which of them the next piece goes on with.
 * 2. A piece has about `PIECE_CHARS` characters, unless a single text in it is longer.
 * 3. Equal values have equal pieces.
 */
import { type Json, parseJson, writeJson } from "#api";
import { nextTurn } from "#base";

/** Parsing as much takes a few milliseconds, also where every key is another. */
const PIECE_CHARS = 64 * 1024;

/** The texts of all pieces, one after the other: bytes are copied from thread to thread, not read. */
export interface Pieces {
  readonly bytes: Uint8Array;
  readonly places: readonly Place[];
}

interface Place {
  /** Where its text ends, and the next one begins. */
  readonly end: number;
  /** From the outermost container to the innermost one that an earlier piece began: its key, or -1 in a list. */
  readonly path: readonly (string | number)[];
}

interface Piece {
  readonly text: string;
  readonly path: Place["path"];
}

type Container = readonly Json[] | { readonly [key: string]: Json | undefined };

interface Frame {
  readonly container: Container;
  /** Undefined: it is a list. */
  readonly keys: readonly string[] | undefined;
  /** Its place in its parent. */
  readonly step: string | number;
  /** The next child. */
  at: number;
}

export function cut(value: unknown): Pieces {
  const gathered = new Gathered();
  for (const piece of cutting(value)) gathered.add(piece);
  return gathered.pieces();
}

/** As `cut`, with a turn of the event loop after each piece. */
export async function cutInTurns(value: unknown): Promise<Pieces> {
  const gathered = new Gathered();
  for (const piece of cutting(value)) {
    gathered.add(piece);
    await nextTurn();
  }
  return gathered.pieces();
}

export function join(pieces: Pieces): Json {
  let whole: Json = null;
  let at = 0;
  for (const piece of piecesOf(pieces)) whole = withPiece(whole, piece, at++);
  return whole;
}

/** The value, with a turn of the event loop after each piece. */
export async function joinInTurns(pieces: Pieces): Promise<Json> {
  let whole: Json = null;
  let at = 0;
  for (const piece of piecesOf(pieces)) {
    whole = withPiece(whole, piece, at++);
    // What fits into one piece is done in the turn in which it came.
    if (pieces.places.length > 1) await nextTurn();
  }
  return whole;
}

export function samePieces(one: Pieces, other: Pieces): boolean {
  return Buffer.compare(one.bytes, other.bytes) === 0;
}

class Gathered {
  readonly #texts: Buffer[] = [];
  readonly #places: Place[] = [];
  #end = 0;

  add({ text, path }: Piece): void {
    const bytes = Buffer.from(text);
    this.#texts.push(bytes);
    this.#end += bytes.length;
    this.#places.push({ end: this.#end, path });
  }

  pieces(): Pieces {
    const bytes = new Uint8Array(this.#end);
    let at = 0;
    for (const text of this.#texts) {
      bytes.set(text, at);
      at += text.length;
    }
    return { bytes, places: this.#places };
  }
}

function* piecesOf({ bytes, places }: Pieces): Generator<Piece> {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let start = 0;
  for (const { end, path } of places) {
    yield { text: all.toString("utf8", start, end), path };
    start = end;
  }
}

function withPiece(whole: Json, { text, path }: Piece, at: number): Json {
  const part = parseJson(text);
  if (at === 0) return part;
  goOn(whole, part, path);
  return whole;
}

function* cutting(value: unknown): Generator<Piece> {
  if (typeof value !== "object" || value === null) {
    yield { text: writeJson(value), path: [] };
    return;
  }
  const frames = [frameOf(value as Container, "")];
  let path: readonly (string | number)[] = [];
  let text = opened(frames);
  let end = endOf(text);
  let isFirst = true;
  for (let top = frames.at(-1); top !== undefined; top = frames.at(-1)) {
    const { container, keys } = top;
    if (top.at === (keys ?? (container as readonly Json[])).length) {
      text += keys === undefined ? "]" : "}";
      frames.pop();
      isFirst = false;
      continue;
    }
    const at = top.at++;
    const key = keys?.[at];
    const child = key === undefined ? ((container as readonly Json[])[at] ?? null) : childOf(container, key);
    if (child === undefined) continue;
    if (!isFirst) text += ",";
    if (key !== undefined) text += `${JSON.stringify(key)}:`;
    isFirst = typeof child === "object" && child !== null;
    if (isFirst) {
      const frame = frameOf(child as Container, key ?? -1);
      text += opening(frame);
      frames.push(frame);
    } else text += writeJson(child);
    if (text.length < end) continue;
    yield { text: text + closed(frames), path };
    path = frames.slice(1).map(({ step }) => step);
    text = opened(frames);
    end = endOf(text);
    isFirst = true;
  }
  yield { text, path };
}

/** A piece says at least as much as it repeats. */
function endOf(start: string): number {
  return start.length + Math.max(PIECE_CHARS, start.length);
}

function frameOf(container: Container, step: string | number): Frame {
  return { container, keys: Array.isArray(container) ? undefined : Object.keys(container), step, at: 0 };
}

function childOf(container: Container, key: string): Json | undefined {
  return (container as { readonly [key: string]: Json | undefined })[key];
}

function opening({ keys }: Frame): string {
  return keys === undefined ? "[" : "{";
}

function opened(frames: readonly Frame[]): string {
  return frames
    .map((frame) => (typeof frame.step === "string" && frame !== frames[0] ? `${JSON.stringify(frame.step)}:` : ""))
    .map((key, at) => key + opening(frames[at] as Frame))
    .join("");
}

function closed(frames: readonly Frame[]): string {
  return frames
    .toReversed()
    .map(({ keys }) => (keys === undefined ? "]" : "}"))
    .join("");
}

/** Adds a piece to what the pieces before it have made. */
function goOn(whole: Json, piece: Json, path: readonly (string | number)[]): void {
  let target = whole;
  let part = piece;
  for (const step of path) {
    const begun = last(target, step);
    addTo(target, part, step);
    target = begun;
    part = typeof step === "string" ? own(part, step) : ((part as readonly Json[])[0] ?? null);
  }
  addTo(target, part, undefined);
}

/** Adds everything but the container at `besides`, which is there already. */
function addTo(target: Json, part: Json, besides: string | number | undefined): void {
  if (Array.isArray(target)) {
    const items = part as readonly Json[];
    for (let at = besides === undefined ? 0 : 1; at < items.length; at++) target.push(items[at]);
    return;
  }
  for (const key of Object.keys(part as object)) {
    if (key === besides) continue;
    // Assigning would not make the key `__proto__`.
    if (key === "__proto__") define(target, key, own(part, key));
    else (target as Record<string, Json>)[key] = own(part, key);
  }
}

function last(target: Json, step: string | number): Json {
  return typeof step === "string" ? own(target, step) : ((target as readonly Json[]).at(-1) ?? null);
}

function own(object: Json, key: string): Json {
  return Object.hasOwn(object as object, key) ? ((object as Record<string, Json>)[key] ?? null) : null;
}

function define(target: Json, key: string, value: Json): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
