/** Order of values: numbers of any type, strings and bytes by their bytes, false before true, times. */
import { CelError, Duration, noSuchOverload, Opaque, Timestamp, Uint, type Value } from "./value.ts";

/** Negative, zero or positive; an error for values without an order. */
export function compare(a: Value, b: Value): number | CelError {
  if (typeof a === "bigint" && typeof b === "bigint") return order(a, b);
  if (typeof a === "string") return typeof b === "string" ? compareText(a, b) : noSuchOverload();
  const [x, y] = [numberOf(a), numberOf(b)];
  if (x !== undefined && y !== undefined) {
    if (Number.isNaN(x) || Number.isNaN(y)) return new CelError("NaN values cannot be ordered");
    return order(x, y);
  }
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (a instanceof Timestamp && b instanceof Timestamp) return order(a.nanos, b.nanos);
  if (a instanceof Duration && b instanceof Duration) return order(a.nanos, b.nanos);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b);
  if (a instanceof Opaque && b instanceof Opaque) return a.compare?.(b) ?? noSuchOverload();
  return noSuchOverload();
}

function numberOf(value: Value): bigint | number | undefined {
  if (typeof value === "bigint" || typeof value === "number") return value;
  return value instanceof Uint ? value.value : undefined;
}

/** JavaScript compares a bigint and a number by their mathematical values. */
function order(a: bigint | number, b: bigint | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** By code points, which is the order of UTF-8 bytes: a surrogate stands for more than any other code unit. */
function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const x = a.charCodeAt(index);
    const y = b.charCodeAt(index);
    if (x === y) continue;
    const [xHigh, yHigh] = [(x & 0xf800) === 0xd800, (y & 0xf800) === 0xd800];
    return xHigh === yHigh ? x - y : xHigh ? 1 : -1;
  }
  return a.length - b.length;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
