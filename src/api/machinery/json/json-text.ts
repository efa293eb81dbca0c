/**
 * Parsing of JSON text with Go's error messages, and the search for duplicate keys.
 *
 * 1. The common path is JSON.parse alone. Text is scanned by hand only to explain a syntax error, or once it is known
 *    to have duplicate keys.
 * 2. Documents of clients are nested no deeper than every walk over them can go. Go's own limit is further away.
 * 3. Integers that a number does not hold become bigints, and numbers that float64 does not hold are refused. Only text
 *    that may have one is parsed number by number: that takes four times as long, and the test for it, on a Pod, 0.1 of
 *    the 3.6 µs of JSON.parse (2026-11-18).
 */
import { goQuote } from "./go-text.ts";
import { numberOf } from "./int64.ts";
import { isObject, type Json } from "./json.ts";
import { JsonScanner, MAX_DEPTH } from "./json-scanner.ts";

export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
}

/** The shortest integer that a number does not hold has 16 digits. Written out, the search skips eight at a time. */
const longNumber = /\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d|\d[eE]\+?\d\d\d+[\s,\]}]/;
const integer = /^-?\d+$/;

export function parseJson(text: string): Json {
  try {
    return parseText(text.includes("\\ud") || text.includes("\\uD") ? wellFormed(text) : text);
  } catch (cause) {
    if (cause instanceof JsonSyntaxError) throw cause;
    const why = new JsonScanner(text).scan();
    throw new JsonSyntaxError(why ?? (cause instanceof Error ? cause.message : String(cause)));
  }
}

/** Go reports no more unknown and duplicate fields of a document. */
export const MAX_STRICT_ERRORS = 100;
/** The characters of all paths that are looked at closely: a document may have many keys below a long one. */
const MAX_COMPARED = 16 * 1024 * 1024;

/** The document of a client. */
export interface JsonDocument {
  readonly value: Json;
  readonly facts: TextFacts;
}

export function parseDocument(text: string): JsonDocument {
  const facts = textFacts(text);
  const fault = facts.depth > MAX_DEPTH ? new JsonScanner(text).scan() : undefined;
  if (fault !== undefined) throw new JsonSyntaxError(fault);
  return { value: parseJson(text), facts };
}

function parseText(text: string): Json {
  return longNumber.test(text) ? parseExactly(text) : (JSON.parse(text) as Json);
}

const surrogate = /\\u([dD][89abAB][\da-fA-F]{2})\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}|\\[\s\S]/g;

/** As Go reads escapes: half of a pair of surrogates is the replacement character. */
function wellFormed(text: string): string {
  return text.replace(surrogate, (found, high?: string) =>
    high === undefined && found.length === 6 ? "\\ufffd" : found,
  );
}

function parseExactly(text: string): Json {
  return JSON.parse(text, (_, value, { source = "" }) =>
    typeof value === "number" ? exactNumber(value, source) : value,
  ) as Json;
}

function exactNumber(value: number, source: string): Json {
  if (Number.isSafeInteger(value)) return value;
  if (!Number.isFinite(value))
    throw new JsonSyntaxError(`json: cannot unmarshal number ${source} into Go value of type float64`);
  return integer.test(source) ? numberOf(BigInt(source)) : value;
}

/**
 * The errors of strict decoding, in the order of the text: `unknown field "spec.foo"`, `duplicate field "data.a"`.
 * `value` is the parsed text, `unknown` the paths of the fields that decoding did not know.
 */
export function strictFieldErrors(
  text: string,
  value: Json,
  unknown: readonly string[],
  facts: TextFacts = textFacts(text),
): readonly string[] {
  if (!hasDuplicateKeys(text, value, facts)) return unknown.map(unknownField);
  const unknownPaths = new Set(unknown);
  const lengths = new Set(unknown.map(({ length }) => length));
  const errors = new Set<string>();
  let compared = 0;
  const scanner = new JsonScanner(text, (path, repeated) => {
    if (errors.size >= MAX_STRICT_ERRORS || compared > MAX_COMPARED) return false;
    // The text of a path is put together only where it may be one of these, and printed.
    const isUnknown = lengths.has(path.length) && unknownPaths.has(path);
    if (isUnknown) errors.add(unknownField(path));
    else if (repeated) errors.add(`duplicate field ${goQuote(path)}`);
    if (repeated || lengths.has(path.length)) compared += path.length;
    return !isUnknown;
  });
  scanner.scan();
  return compared > MAX_COMPARED ? [...new Set([...errors, ...unknown.map(unknownField)])] : [...errors];
}

export function unknownField(path: string): string {
  return `unknown field ${goQuote(path)}`;
}

/** Whether the text has more keys than its parsed value. */
export function hasDuplicateKeys(text: string, value: Json, { keys }: TextFacts = textFacts(text)): boolean {
  return keys !== keysIn(value);
}

export interface TextFacts {
  readonly keys: number;
  /** Whether a number has a fraction or an exponent. */
  readonly fractions: boolean;
  /** Of the deepest list or object; 0 for a scalar. */
  readonly depth: number;
}

/** Colons outside of strings follow keys. */
export function textFacts(text: string): TextFacts {
  let keys = 0;
  let fractions = false;
  let open = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at);
        break;
      case 0x3a: // :
        keys++;
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++open > depth) depth = open;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        open--;
        break;
      case 0x2e: // .
        fractions = true;
        break;
      case 0x45: // E
      case 0x65: // e
        if (isDigit(text.charCodeAt(at - 1))) fractions = true;
    }
  }
  return { keys, fractions, depth };
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++;
  return backslashes % 2 === 1;
}

function keysIn(value: Json): number {
  if (Array.isArray(value)) {
    let count = 0;
    for (const item of value) if (typeof item === "object") count += keysIn(item);
    return count;
  }
  if (!isObject(value)) return 0;
  let count = 0;
  for (const key in value) {
    count++;
    const child = value[key];
    if (typeof child === "object") count += keysIn(child);
  }
  return count;
}
