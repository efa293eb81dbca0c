/**
 * Equality of values.
 *
 * 1. Numbers of different types are equal by value. Otherwise values of different types are not equal, which is not an
 *    error.
 * 2. NaN equals nothing. JSON that does not fit its type equals nothing.
 * 3. Lists that a schema declares as sets or maps are equal in any order; the left one decides.
 */
import { equalJson } from "../../json/equal.ts";
import { sameType } from "./type.ts";
import {
  CelError,
  Duration,
  ListValue,
  MapValue,
  Opaque,
  Optional,
  type Outcome,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from "./value.ts";

export function equal(a: Value, b: Value): boolean {
  if (typeof a === "string" || typeof a === "boolean" || a === null) return a === b;
  if (typeof a === "bigint" && typeof b === "bigint") return a === b;
  if (isNumber(a)) return isNumber(b) && numbersEqual(a, b);
  if (a instanceof ListValue) return b instanceof ListValue && listsEqual(a, b);
  if (a instanceof MapValue) return b instanceof MapValue && mapsEqual(a, b);
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && bytesEqual(a, b);
  if (a instanceof Optional) {
    if (!(b instanceof Optional)) return false;
    return a.value === undefined || b.value === undefined ? a.value === b.value : equal(a.value, b.value);
  }
  if (a instanceof TypeValue) return b instanceof TypeValue && sameTypeName(a, b);
  return a instanceof Opaque && b instanceof Opaque && sameType(a.type, b.type) && a.equals(b);
}

function outcomesEqual(a: Outcome | undefined, b: Outcome | undefined): boolean {
  if (a === undefined || b === undefined || a instanceof CelError || b instanceof CelError) return false;
  return equal(a, b);
}

function isNumber(value: Value): value is bigint | number | Uint {
  return typeof value === "bigint" || typeof value === "number" || value instanceof Uint;
}

/** JavaScript compares a bigint and a number by their mathematical values; NaN is neither larger nor smaller. */
function numbersEqual(a: bigint | number | Uint, b: bigint | number | Uint): boolean {
  const x = a instanceof Uint ? a.value : a;
  const y = b instanceof Uint ? b.value : b;
  return x <= y && x >= y;
}

function bytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/** Types are equal by name: `type([1]) == type(['a'])`. */
function sameTypeName(a: TypeValue, b: TypeValue): boolean {
  const [left, right] = [a.type, b.type];
  if (left.kind !== right.kind) return false;
  if ((left.kind === "object" || left.kind === "opaque") && left.kind === right.kind) return left.name === right.name;
  return true;
}

function listsEqual(a: ListValue, b: ListValue): boolean {
  if (a.size !== b.size) return false;
  if (a.equals !== undefined) return a.equals(b);
  for (let index = 0; index < a.size; index++) if (!outcomesEqual(a.at(index), b.at(index))) return false;
  return true;
}

function mapsEqual(a: MapValue, b: MapValue): boolean {
  if (a.size !== b.size) return false;
  for (const key of a.keys()) if (!outcomesEqual(a.get(key), b.get(key))) return false;
  return equalJson(a.unknownFields(), b.unknownFields());
}
