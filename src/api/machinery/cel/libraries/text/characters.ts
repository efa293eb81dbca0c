/**
 * String functions. Positions and sizes are in code points.
 *
 * Everything takes at most linear time, and no result is longer than `longestText`: expressions run on untrusted input.
 */
import { CelError, codePoints, type Outcome } from "../../values/value.ts";
import { indexOf, lastIndexOf, places } from "./text-search.ts";

/** In UTF-16 code units: many times the size of a request. */
export const longestText = 2 ** 26;
export const tooLong = new CelError("result is too large");

const surrogate = /[\ud800-\udfff]/;

export function characterAt(text: string, index: bigint): Outcome {
  if (index < 0n || index > BigInt(codePoints(text))) return outOfRange(index);
  const at = unitsBefore(text, Number(index));
  const code = text.codePointAt(at);
  return code === undefined ? "" : String.fromCodePoint(code);
}

export function substring(text: string, start: bigint, end: bigint = BigInt(codePoints(text))): Outcome {
  const size = BigInt(codePoints(text));
  if (start < 0n || start > size) return outOfRange(start);
  if (end < 0n || end > size) return outOfRange(end);
  return text.slice(unitsBefore(text, Number(start)), unitsBefore(text, Number(end)));
}

export function substringRange(text: string, start: bigint, end: bigint): Outcome {
  return start > end
    ? new CelError(`invalid substring range. start: ${start}, end: ${end}`)
    : substring(text, start, end);
}

export function firstIndex(text: string, part: string, offset: bigint): Outcome {
  if (part === "") return offset;
  if (offset < 0n || offset >= BigInt(codePoints(text))) return outOfRange(offset);
  return position(text, indexOf(text, part, unitsBefore(text, Number(offset))));
}

export function lastIndex(text: string, part: string, offset?: bigint): Outcome {
  const size = BigInt(codePoints(text));
  if (part === "") return offset ?? size;
  const from = offset ?? size - 1n;
  if (from < 0n || from >= size) return outOfRange(from);
  return position(text, lastIndexOf(text, part, unitsBefore(text, Number(from))));
}

export function replace(text: string, old: string, by: string, limit: bigint): Outcome {
  const most = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit);
  const pieces = old === "" ? boundaries(text, most) : pieceList(text, old, most);
  const length = text.length + (pieces.length - 1) * (by.length - old.length);
  return length > longestText ? tooLong : pieces.join(by);
}

/** At most `limit` pieces; the last one is the rest. */
export function split(text: string, separator: string, limit: bigint): readonly string[] {
  if (limit === 0n) return [];
  const most = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit) - 1;
  if (separator !== "") return pieceList(text, separator, most);
  const all = [...text];
  return all.length <= most + 1 ? all : [...all.slice(0, most), all.slice(most).join("")];
}

export function join(texts: readonly string[], separator: string): Outcome {
  let length = separator.length * Math.max(0, texts.length - 1);
  for (const text of texts) length += text.length;
  return length > longestText ? tooLong : texts.join(separator);
}

export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

export function upperAscii(text: string): string {
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

const space = /[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/**
 * Without Unicode white space at both ends; the byte order mark, which JavaScript trims as well, is not white space.
 */
export function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && space.test(text.charAt(start))) start++;
  while (end > start && space.test(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

/** From \x07 on. */
const controls = ["\\a", "\\b", "\\t", "\\n", "\\v", "\\f", "\\r"];

/** In double quotes, with CEL's escapes only. */
export function quote(text: string): string {
  let quoted = "";
  for (const char of text.toWellFormed())
    quoted += controls[char.charCodeAt(0) - 7] ?? (char === "\\" || char === '"' ? `\\${char}` : char);
  return `"${quoted}"`;
}

function outOfRange(index: bigint): CelError {
  return new CelError(`index out of range: ${index}`);
}

/** The index at which this code point begins. */
function unitsBefore(text: string, index: number): number {
  if (!surrogate.test(text)) return index;
  let units = 0;
  for (let seen = 0; seen < index && units < text.length; seen++)
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  return units;
}

function position(text: string, units: number): bigint {
  return BigInt(units <= 0 ? units : codePoints(text.slice(0, units)));
}

function pieceList(text: string, separator: string, cuts: number): string[] {
  const pieces: string[] = [];
  let start = 0;
  for (const at of places(text, separator, cuts)) {
    pieces.push(text.slice(start, at));
    start = at + separator.length;
  }
  return [...pieces, text.slice(start)];
}

/** Splits before each character and at the end, at most `cuts` times: where an empty string is found. */
function boundaries(text: string, cuts: number): string[] {
  if (cuts === 0) return [text];
  const chars = [...text];
  if (cuts > chars.length) return ["", ...chars, ""];
  return ["", ...chars.slice(0, cuts - 1), chars.slice(cuts - 1).join("")];
}
