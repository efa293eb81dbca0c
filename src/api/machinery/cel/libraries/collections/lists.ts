/** Kubernetes' functions for lists: `isSorted`, `sum`, `min`, `max`, `indexOf`, `lastIndexOf`. */

import { table } from "#base";
import { type Costs, dataSize, sizeRange } from "../../functions/call-costs.ts";
import { addRanges, costs, multiplyRanges, range, scaleRange } from "../../functions/cost.ts";
import { fn, type Library, member, type Overload } from "../../functions/function.ts";
import { equal } from "../../values/equality.ts";
import { checkedDuration, checkedInt, checkedUint } from "../../values/numbers.ts";
import { compare } from "../../values/order.ts";
import {
  bool,
  bytes,
  double,
  duration,
  int,
  list,
  parameter,
  string,
  type Type,
  timestamp,
  uint,
} from "../../values/type.ts";
import {
  CelError,
  Duration,
  type ListValue,
  noSuchOverload,
  type Outcome,
  Uint,
  type Value,
} from "../../values/value.ts";
import { itemsOf } from "./list-items.ts";

/** Ordered types, by the names in the ids of overloads. */
export const comparable: Readonly<Record<string, Type>> = table({
  int,
  uint,
  double,
  bool,
  duration,
  timestamp,
  string,
  bytes,
});
const summable = { int, uint, double, duration } as const;
const zeros = { int: 0n, uint: new Uint(0n), double: 0, duration: new Duration(0n) } as const;

/** One traversal of the list's data, or of the characters of a string. */
export const searching: Costs = {
  cost: ([items]) => (items === undefined ? 0 : dataSize(items)),
  estimate: ([items]) => {
    const element = items?.element;
    if (element === undefined) return { cost: scaleRange(sizeRange(items), costs.stringTraversal) };
    const text = element.type.kind === "string" || element.type.kind === "bytes";
    const each = text ? addRanges(range(1), scaleRange(element.size, costs.stringTraversal)) : range(1);
    return { cost: multiplyRanges(sizeRange(items), each) };
  },
};

const a = parameter("A");

export const lists: Library = {
  name: "kubernetes.lists",
  functions: [
    fn("isSorted", ...forEach(comparable, (name, type) => [`list_${name}_is_sorted_bool`, type, bool, isSorted])),
    fn("sum", ...forEach(summable, (name, type) => [`list_${name}_sum_${name}`, type, type, sum(zeros[name])])),
    fn("max", ...forEach(comparable, (name, type) => [`list_${name}_max_${name}`, type, type, best("max", 1)])),
    fn("min", ...forEach(comparable, (name, type) => [`list_${name}_min_${name}`, type, type, best("min", -1)])),
    fn("indexOf", member("list_a_index_of_int", [list(a), a], int, indexOf, searching)),
    fn("lastIndexOf", member("list_a_last_index_of_int", [list(a), a], int, lastIndexOf, searching)),
  ],
};

type Declared = readonly [id: string, element: Type, result: Type, call: (items: ListValue) => Outcome];

function forEach<Name extends string>(
  types: Readonly<Record<Name, Type>>,
  declare: (name: Name, type: Type) => Declared,
): readonly Overload[] {
  return (Object.keys(types) as Name[]).map((name) => {
    const [id, element, result, call] = declare(name, types[name]);
    return member(id, [list(element)], result, call, searching);
  });
}

/** Values without an order, such as NaN, are skipped. */
function isSorted(items: ListValue): Outcome {
  const values = itemsOf(items);
  if (values instanceof CelError) return values;
  return values.every((value, index) => {
    const order = index === 0 ? 0 : compare(values[index - 1] ?? null, value);
    return order instanceof CelError || order <= 0;
  });
}

function best(name: string, sign: 1 | -1): (items: ListValue) => Outcome {
  return (items) => {
    const values = itemsOf(items);
    if (values instanceof CelError) return values;
    const [first, ...rest] = values;
    if (first === undefined) return new CelError(`${name} called on empty list`);
    let found = first;
    for (const value of rest) {
      const order = compare(value, found);
      if (!(order instanceof CelError) && order * sign > 0) found = value;
    }
    return found;
  };
}

function sum(zero: Value): (items: ListValue) => Outcome {
  return (items) => {
    const values = itemsOf(items);
    if (values instanceof CelError) return values;
    let total: Outcome = zero;
    for (const value of values) {
      total = plus(total, value);
      if (total instanceof CelError) return total;
    }
    return total;
  };
}

function plus(x: Value, y: Value): Outcome {
  if (typeof x === "bigint" && typeof y === "bigint") return checkedInt(x + y);
  if (typeof x === "number" && typeof y === "number") return x + y;
  if (x instanceof Uint && y instanceof Uint) return checkedUint(x.value + y.value);
  if (x instanceof Duration && y instanceof Duration) return checkedDuration(x.nanos + y.nanos);
  return noSuchOverload();
}

function indexOf(items: ListValue, value: Value): Outcome {
  for (let index = 0; index < items.size; index++) if (isAt(items, index, value)) return BigInt(index);
  return -1n;
}

function lastIndexOf(items: ListValue, value: Value): Outcome {
  for (let index = items.size - 1; index >= 0; index--) if (isAt(items, index, value)) return BigInt(index);
  return -1n;
}

function isAt(items: ListValue, index: number, value: Value): boolean {
  const item = items.at(index);
  return !(item instanceof CelError) && equal(item, value);
}
