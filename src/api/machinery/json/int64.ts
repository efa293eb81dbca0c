/**
 * Integers of 64 bits, of which a JavaScript number holds only those within ±(2^53 - 1).
 *
 * 1. An integer has one form: a number where a number holds it exactly, otherwise a bigint. So equal integers are
 *    `===`, and a map or a set finds them.
 * 2. A number beyond 2^53 - 1 is floating: its text had a fraction or an exponent, or it does not fit 64 bits. Go
 *    decodes JSON without a type in the same way: an int64 where the text is one, otherwise a float64.
 * 3. Comparisons take numbers and bigints together; arithmetic does not, and the compiler refuses it. What only needs
 *    an amount (seconds, bytes) uses `Number(value)`; what counts exactly uses bigints and `int64Of`.
 */
import type { Int64, Json } from "./json.ts";

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

/** In its one form; undefined if it does not fit 64 bits. */
export function int64Of(value: bigint): Int64 | undefined {
  if (value < MIN || value > MAX) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** A float64 where it does not fit 64 bits. */
export function numberOf(value: bigint): Int64 {
  return int64Of(value) ?? Number(value);
}

export function isInt64(value: unknown): value is Int64 {
  return typeof value === "number" ? Number.isSafeInteger(value) : typeof value === "bigint";
}

const integer = /^[+-]?\d+$/;

/** As Go's `strconv.ParseInt(text, 10, 64)`; undefined where that fails. */
export function parseInt64(text: string): Int64 | undefined {
  return integer.test(text) ? int64Of(BigInt(text.startsWith("+") ? text.slice(1) : text)) : undefined;
}

/** As Go adds: beyond 64 bits it wraps around. */
export function addInt64(a: Int64, b: Int64): Int64 {
  if (typeof a === "number" && typeof b === "number" && Number.isSafeInteger(a + b)) return a + b;
  return numberOf(BigInt.asIntN(64, BigInt(a) + BigInt(b)));
}

export function compareInt64(a: Int64, b: Int64): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Whether a JSON value is a number, of either form. */
export function isNumeric(value: Json | undefined): value is Int64 {
  return typeof value === "number" || typeof value === "bigint";
}
