/**
 * Numbers by their spelling. JSON.parse takes 1.0 and 1 for the same number, and Go does not: 1.0 is no integer, and a
 * message shows a number as it was sent.
 *
 * 1. A spelled number is a symbol whose description is its text. So patches and decoders pass it on as they pass on any
 *    scalar, and nothing takes it for a number by mistake.
 * 2. Such a document is decoded only to find or to word a fault. It is never stored and never written.
 */
import { parseInt64 } from "./int64.ts";
import type { Json } from "./json.ts";
import { parseJson } from "./json-text.ts";

const integer = /^-?\d+$/;

/** The document, in which every number that its value would not be written as is spelled. */
export function parseSpelled(text: string): Json {
  try {
    return JSON.parse(text, (_, value, { source = "" }) =>
      typeof value === "number" ? spelled(value, source) : value,
    ) as Json;
  } catch (error) {
    // Nested so deeply that there is no stack for it.
    if (error instanceof RangeError) return parseJson(text);
    throw error;
  }
}

function spelled(value: number, source: string): Json | symbol {
  if (integer.test(source)) return parseInt64(source) ?? Symbol(source);
  return String(value) === source ? value : Symbol(source);
}

/** Undefined for everything but a spelled number. */
export function spellingOf(value: unknown): string | undefined {
  return typeof value === "symbol" ? value.description : undefined;
}
