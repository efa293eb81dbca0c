/**
 * The declarations of the operators, by their internal names. compile.ts evaluates logic, choice and indexing itself.
 */
import { addRanges, costs, type Range, range, scaleRange } from "../functions/cost.ts";
import {
  type Estimate,
  type FunctionDeclaration,
  fn,
  global,
  type Overload,
  type RunCost,
} from "../functions/function.ts";
import { equal } from "../values/equality.ts";
import { checkedDuration, checkedInt, checkedTimestamp, checkedUint } from "../values/numbers.ts";
import { compare } from "../values/order.ts";
import type { Type } from "../values/type.ts";
import * as types from "../values/type.ts";
import {
  CelError,
  ConcatList,
  costSize,
  type Duration,
  type ListValue,
  type MapValue,
  noSuchOverload,
  Opaque,
  type Outcome,
  type Timestamp,
  Uint,
  type Value,
} from "../values/value.ts";

const { bool, bytes, double, duration, dyn, int, string, timestamp, uint } = types;
const a = types.parameter("A");
const b = types.parameter("B");

/** Both strings are traversed up to the length of the shorter one. */
const shorterCost: RunCost = ([left = null, right = null]: readonly Value[]) =>
  Math.ceil(Math.min(sizeForEquality(left), sizeForEquality(right)) * costs.stringTraversal);

export const shorterEstimate: Estimate = ([left, right]) => {
  const max = Math.min(left?.size.max ?? 0, right?.size.max ?? 0);
  return { cost: scaleRange({ min: max > 0 ? 1 : 0, max }, costs.stringTraversal) };
};

function sizeForEquality(value: Value): number {
  return value instanceof Opaque ? 1 : costSize(value);
}

const shorter = { cost: shorterCost, estimate: shorterEstimate };

const scalarNames: readonly (readonly [string, Type])[] = [
  ["bool", bool],
  ["int64", int],
  ["uint64", uint],
  ["double", double],
  ["string", string],
  ["bytes", bytes],
  ["timestamp", timestamp],
  ["duration", duration],
];
const numberNames = scalarNames.filter(([, type]) => type === int || type === uint || type === double);

function ordering(name: string, id: string, holds: (order: number) => boolean): FunctionDeclaration {
  const test = (left: Value, right: Value): Outcome => {
    const order = compare(left, right);
    return order instanceof CelError ? order : holds(order);
  };
  const overloads: Overload[] = scalarNames.map(([scalar, type]) =>
    global(`${id}_${scalar}`, [type, type], bool, test, type === string || type === bytes ? shorter : {}),
  );
  for (const [left, leftType] of numberNames)
    for (const [right, rightType] of numberNames)
      if (left !== right) overloads.push(global(`${id}_${left}_${right}`, [leftType, rightType], bool, test));
  return { name, overloads };
}

/** The result is as long as both operands together, and so is the work. */
const joinedCost: RunCost = ([left = null, right = null]: readonly Value[]) =>
  Math.ceil((costSize(left) + costSize(right)) * costs.stringTraversal);
const joinedEstimate: Estimate = (args) => {
  const size = joinedSize(args);
  return { cost: scaleRange(size, costs.stringTraversal), size };
};
const joined = { cost: joinedCost, estimate: joinedEstimate };

function joinedSize(args: readonly { readonly size: Range }[]): Range {
  return addRanges(args[0]?.size ?? range(0), args[1]?.size ?? range(0));
}

const divisionByZero = new CelError("division by zero");
const modulusByZero = new CelError("modulus by zero");

const arithmetic: readonly FunctionDeclaration[] = [
  fn(
    "_+_",
    global("add_bytes", [bytes, bytes], bytes, concatBytes, joined),
    global("add_double", [double, double], double, (x: number, y: number) => x + y),
    global("add_duration_duration", [duration, duration], duration, (x: Duration, y: Duration) =>
      checkedDuration(x.nanos + y.nanos),
    ),
    global("add_duration_timestamp", [duration, timestamp], timestamp, (x: Duration, y: Timestamp) =>
      checkedTimestamp(x.nanos + y.nanos, y.offsetMinutes),
    ),
    global("add_timestamp_duration", [timestamp, duration], timestamp, (x: Timestamp, y: Duration) =>
      checkedTimestamp(x.nanos + y.nanos, x.offsetMinutes),
    ),
    global("add_int64", [int, int], int, (x: bigint, y: bigint) => checkedInt(x + y)),
    global("add_list", [types.list(a), types.list(a)], types.list(a), addLists, {
      estimate: (args) => ({ cost: range(1), size: joinedSize(args) }),
    }),
    global("add_string", [string, string], string, (x: string, y: string) => x + y, joined),
    global("add_uint64", [uint, uint], uint, (x: Uint, y: Uint) => checkedUint(x.value + y.value)),
  ),
  fn(
    "_-_",
    global("subtract_double", [double, double], double, (x: number, y: number) => x - y),
    global("subtract_duration_duration", [duration, duration], duration, (x: Duration, y: Duration) =>
      checkedDuration(x.nanos - y.nanos),
    ),
    global("subtract_int64", [int, int], int, (x: bigint, y: bigint) => checkedInt(x - y)),
    global("subtract_timestamp_duration", [timestamp, duration], timestamp, (x: Timestamp, y: Duration) =>
      checkedTimestamp(x.nanos - y.nanos, x.offsetMinutes),
    ),
    global("subtract_timestamp_timestamp", [timestamp, timestamp], duration, (x: Timestamp, y: Timestamp) =>
      checkedDuration(x.nanos - y.nanos),
    ),
    global("subtract_uint64", [uint, uint], uint, (x: Uint, y: Uint) => checkedUint(x.value - y.value)),
  ),
  fn(
    "_*_",
    global("multiply_double", [double, double], double, (x: number, y: number) => x * y),
    global("multiply_int64", [int, int], int, (x: bigint, y: bigint) => checkedInt(x * y)),
    global("multiply_uint64", [uint, uint], uint, (x: Uint, y: Uint) => checkedUint(x.value * y.value)),
  ),
  fn(
    "_/_",
    global("divide_double", [double, double], double, (x: number, y: number) => x / y),
    global("divide_int64", [int, int], int, (x: bigint, y: bigint) => (y === 0n ? divisionByZero : checkedInt(x / y))),
    global("divide_uint64", [uint, uint], uint, (x: Uint, y: Uint) =>
      y.value === 0n ? divisionByZero : new Uint(x.value / y.value),
    ),
  ),
  fn(
    "_%_",
    global("modulo_int64", [int, int], int, (x: bigint, y: bigint) => (y === 0n ? modulusByZero : x % y)),
    global("modulo_uint64", [uint, uint], uint, (x: Uint, y: Uint) =>
      y.value === 0n ? modulusByZero : new Uint(x.value % y.value),
    ),
  ),
  fn(
    "-_",
    global("negate_double", [double], double, (x: number) => -x),
    global("negate_int64", [int], int, (x: bigint) => checkedInt(-x)),
  ),
];

function concatBytes(x: Uint8Array, y: Uint8Array): Uint8Array {
  const both = new Uint8Array(x.length + y.length);
  both.set(x);
  both.set(y, x.length);
  return both;
}

function addLists(x: ListValue, y: ListValue): Outcome {
  return x.plus?.(y) ?? new ConcatList(x, y);
}

function inList(value: Value, list: ListValue): Outcome {
  for (let index = 0; index < list.size; index++) {
    const item = list.at(index);
    if (item instanceof CelError) return item;
    if (equal(item, value)) return true;
  }
  return false;
}

/**
 * Never called: compile.ts evaluates these itself, because they do not evaluate all of their arguments or may be given
 * errors.
 */
const special = (): Outcome => noSuchOverload();

const logic: readonly FunctionDeclaration[] = [
  fn("_?_:_", global("conditional", [bool, a, a], a, special)),
  fn("_&&_", global("logical_and", [bool, bool], bool, special)),
  fn("_||_", global("logical_or", [bool, bool], bool, special)),
  fn("@not_strictly_false", global("not_strictly_false", [bool], bool, special)),
  fn(
    "!_",
    global("logical_not", [bool], bool, (x: boolean) => !x),
  ),
];

const comparison: readonly FunctionDeclaration[] = [
  fn("_==_", global("equals", [a, a], bool, equal, shorter)),
  fn(
    "_!=_",
    global("not_equals", [a, a], bool, (x: Value, y: Value) => !equal(x, y), shorter),
  ),
  ordering("_<_", "less", (order) => order < 0),
  ordering("_<=_", "less_equals", (order) => order <= 0),
  ordering("_>_", "greater", (order) => order > 0),
  ordering("_>=_", "greater_equals", (order) => order >= 0),
];

const containers: readonly FunctionDeclaration[] = [
  fn(
    "_[_]",
    global("index_list", [types.list(a), int], a, special),
    global("index_map", [types.map(a, b), a], b, special),
  ),
  fn(
    "@in",
    global("in_list", [a, types.list(a)], bool, inList, {
      cost: ([, list]: readonly Value[]) => (list === undefined ? 1 : costSize(list)),
      estimate: ([, list]) => ({ cost: list?.size ?? range(0) }),
    }),
    global("in_map", [a, types.map(a, b)], bool, (key: Value, map: MapValue) => map.has(key)),
  ),
  fn(
    "dyn",
    global("to_dyn", [a], dyn, (value: Value) => value),
  ),
];

export const operators: readonly FunctionDeclaration[] = [...logic, ...comparison, ...arithmetic, ...containers];
