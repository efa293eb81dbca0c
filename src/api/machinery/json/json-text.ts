/**
 * Parsing of JSON text with Go's error messages, and the search for duplicate keys.
 *
 * 1. The common path is JSON.parse alone. Text is scanned by hand only to explain a syntax error, or once it is known
 *    to have duplicate keys.
 */
import { goQuote } from "./go-text.ts";
import { isObject, type Json } from "./json.ts";
import { JsonScanner } from "./json-scanner.ts";

export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
}

export function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    const why = new JsonScanner(text).scan();
    throw new JsonSyntaxError(why ?? (cause instanceof Error ? cause.message : String(cause)));
  }
}

/**
 * The errors of strict decoding, in the order of the text: `unknown field "spec.foo"`, `duplicate field "data.a"`.
 * `value` is the parsed text, `unknown` the paths of the fields that decoding did not know.
 */
export function strictFieldErrors(text: string, value: Json, unknown: readonly string[]): readonly string[] {
  if (!hasDuplicateKeys(text, value)) return unknown.map(unknownField);
  const unknownPaths = new Set(unknown);
  const errors = new Set<string>();
  const scanner = new JsonScanner(text, (path, repeated) => {
    if (unknownPaths.has(path)) errors.add(unknownField(path));
    else if (repeated) errors.add(`duplicate field ${goQuote(path)}`);
    return !unknownPaths.has(path);
  });
  scanner.scan();
  return [...errors];
}

export function unknownField(path: string): string {
  return `unknown field ${goQuote(path)}`;
}

/** Whether the text has more keys than its parsed value. */
export function hasDuplicateKeys(text: string, value: Json): boolean {
  return keysInText(text) !== keysIn(value);
}

/** Counts strings that are followed by a colon. */
function keysInText(text: string): number {
  let count = 0;
  for (let open = text.indexOf('"'); open >= 0; ) {
    let close = text.indexOf('"', open + 1);
    while (close > 0 && isEscaped(text, close)) close = text.indexOf('"', close + 1);
    if (close < 0) return count;
    let after = close + 1;
    while (text.charCodeAt(after) <= 0x20) after++;
    if (text.charCodeAt(after) === 0x3a) count++;
    open = text.indexOf('"', after);
  }
  return count;
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
