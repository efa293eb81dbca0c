/**
 * CEL's extension for lists: `slice`, `flatten`, `sort`, `sortBy`, `lists.range`, `reverse`, `distinct`.
 *
 * Results are views of the argument where possible: making one takes no time, so charging its cost afterwards does no
 * harm.
 */

import { type Costs, costSize, sizeRange } from "../../functions/call-costs.ts";
import { addRanges, costs, multiplyRanges, type Range, range, scaleRange, unlimited } from "../../functions/cost.ts";
import { type CallEstimate, fn, global, type Library, member, type SizedNode } from "../../functions/function.ts";
import { type MacroCall, MacroFault } from "../../syntax/macro.ts";
import { Builder, collect, simpleName, unused } from "../../syntax/standard-macros.ts";
import { compare } from "../../values/order.ts";
import { dyn, int, list, parameter, sameType, type Type, typeName } from "../../values/type.ts";
import { ArrayList, CelError, ListValue, type Outcome, typeOf, type Value } from "../../values/value.ts";
import { itemsOf, ListView } from "./list-items.ts";
import { comparable } from "./lists.ts";
import { tooManyComparisons, ValueSet } from "./value-set.ts";

const listT = list(parameter("T"));
/** The function that `sortBy` expands to; users cannot write its name. */
const sortByKeys = "@sortByAssociatedKeys";
/** More than a request can hold. */
const mostItems = 2 ** 21;

const growing = (estimate: (args: readonly SizedNode[]) => CallEstimate): Costs => ({
  cost: (_, result) => allocationCost(costSize(result)),
  estimate,
});

const flattening: Costs = {
  cost: ([items, depth]) => allocationCost(costSize(items) * (typeof depth === "bigint" ? Number(depth) : 1)),
  estimate: ([items, depth]) => allocating(sizeRange(items), depth === undefined ? 1 : literalSize(depth, unlimited)),
};

/** Every pair of items, for `distinct`, `sort` and `sortBy`. */
function comparing(element: Type | undefined, argument: 0 | 1): Costs {
  return {
    cost: (args) => {
      const items = args[argument];
      const size = costSize(items);
      const first = items instanceof ListValue && size > 0 ? items.at(0) : undefined;
      return allocationCost(Math.floor(size * size * comparisonCost(isText(first))));
    },
    estimate: (args) => {
      const size = sizeRange(args[argument]);
      const text = element?.kind === "string" || element?.kind === "bytes";
      return allocating(multiplyRanges(size, size), comparisonCost(text));
    },
  };
}

export const listExtensions: Library = {
  name: "cel.lib.ext.lists",
  macros: [{ name: "sortBy", member: true, arguments: 2, expand: expandSortBy }],
  functions: [
    fn("slice", member("list_slice", [listT, int, int], listT, slice, growing(estimateSlice))),
    fn(
      "flatten",
      member("list_flatten", [list(listT)], listT, (items: ListValue) => flatten(items, 1n), flattening),
      member("list_flatten_int", [list(dyn), int], list(dyn), flatten, flattening),
    ),
    fn(
      "sort",
      ...Object.values(comparable).map((type) =>
        member(
          `list_${typeName(type)}_sort`,
          [list(type)],
          list(type),
          (items: ListValue) => sorted(items, items),
          comparing(type, 0),
        ),
      ),
    ),
    fn(
      sortByKeys,
      ...Object.values(comparable).map((type) =>
        member(`list_${typeName(type)}_sortByAssociatedKeys`, [listT, list(type)], listT, sorted, comparing(type, 1)),
      ),
    ),
    fn("lists.range", global("lists_range", [int], list(int), numbers, growing(estimateRange))),
    fn(
      "reverse",
      member(
        "list_reverse",
        [listT],
        listT,
        reverse,
        growing(([items]) => allocating(sizeRange(items), 1)),
      ),
    ),
    fn("distinct", member("list_distinct", [listT], listT, distinct, comparing(undefined, 0))),
  ],
};

function slice(items: ListValue, start: bigint, end: bigint): Outcome {
  const fail = (why: string) => new CelError(`cannot slice(${start}, ${end}), ${why}`);
  if (start < 0n || end < 0n) return fail("negative indexes not supported");
  if (start > end) return fail("start index must be less than or equal to end index");
  if (end > BigInt(items.size)) return fail(`list is length ${items.size}`);
  const first = Number(start);
  return new ListView(Number(end) - first, (index) => items.at(first + index));
}

function reverse(items: ListValue): Outcome {
  return new ListView(items.size, (index) => items.at(items.size - 1 - index));
}

function numbers(count: bigint): Outcome {
  return new ListView(Math.max(0, Number(count)), (index) => BigInt(index));
}

function flatten(items: ListValue, depth: bigint): Outcome {
  if (depth < 0n) return new CelError("level must be non-negative");
  const flat: Value[] = [];
  const add = (from: ListValue, levels: bigint): CelError | undefined => {
    for (let index = 0; index < from.size; index++) {
      const item = from.at(index);
      if (item instanceof CelError) return item;
      if (item instanceof ListValue && levels > 0n) {
        const fault = add(item, levels - 1n);
        if (fault !== undefined) return fault;
      } else if (flat.push(item) > mostItems) {
        return new CelError("result is too large");
      }
    }
    return undefined;
  };
  return add(items, depth) ?? new ArrayList(flat);
}

function distinct(items: ListValue): Outcome {
  const seen = new ValueSet();
  const found: Value[] = [];
  for (let index = 0; index < items.size; index++) {
    const item = items.at(index);
    if (item instanceof CelError) return item;
    if (seen.has(item)) continue;
    if (seen.isExhausted) return tooManyComparisons;
    seen.add(item);
    found.push(item);
  }
  return new ArrayList(found);
}

/** The items in the order of their keys. */
function sorted(items: ListValue, keys: ListValue): Outcome {
  const values = itemsOf(items);
  const by = items === keys ? values : itemsOf(keys);
  if (values instanceof CelError) return values;
  if (by instanceof CelError) return by;
  if (values.length !== by.length)
    return new CelError(
      `${sortByKeys}() expected a list of the same size as the associated keys list, but got ${values.length} and ${by.length} elements respectively`,
    );
  const [first] = by;
  if (first === undefined) return items;
  if (compare(first, first) instanceof CelError && !Number.isNaN(first))
    return new CelError("list elements must be comparable");
  if (!by.every((key) => sameType(typeOf(key), typeOf(first))))
    return new CelError("list elements must have the same type");
  const order = by.map((_, index) => index);
  order.sort((x, y) => {
    const compared = compare(by[x] ?? null, by[y] ?? null);
    return compared instanceof CelError ? 0 : compared;
  });
  return new ArrayList(order.map((index) => values[index] ?? null));
}

/** `target.sortBy(x, key)` is `target`, sorted by the result of `target.map(x, key)`. */
function expandSortBy({ target, args, offset }: MacroCall) {
  const input = "@__sortBy_input__";
  const [name, key] = args;
  if (target === undefined || key === undefined) return undefined;
  if (!["list", "select", "ident", "comprehension", "call"].includes(target.kind))
    return new MacroFault(
      "sortBy can only be applied to a list, identifier, comprehension, call or select expression",
      target.offset,
    );
  const variable = simpleName(name, "argument is not an identifier");
  if (variable instanceof MacroFault) return variable;
  const make = new Builder(offset);
  const keys = collect(make, make.ident(input), { variable, secondVariable: undefined }, undefined, key);
  return make.fold({
    range: make.list(),
    variable: unused,
    accumulator: input,
    init: target,
    condition: make.literal(false),
    step: make.ident(input),
    result: make.memberCall(make.ident(input), sortByKeys, keys),
  });
}

function estimateSlice([items, start, end]: readonly SizedNode[]): CallEstimate {
  const from = literalSize(start, 0);
  const to = literalSize(end, sizeRange(items).max);
  return allocating(range(to < from ? unlimited : to - from), 1);
}

function estimateRange([count]: readonly SizedNode[]): CallEstimate {
  return allocating(range(literalSize(count, unlimited)), 1);
}

function literalSize(node: SizedNode | undefined, otherwise: number): number {
  return typeof node?.literal === "bigint" ? Math.max(0, Number(node.literal)) : otherwise;
}

/** The call itself, a new list, and this much for each item. */
function allocating(size: Range, factor: number): CallEstimate {
  return { cost: addRanges(scaleRange(size, factor), range(1 + costs.listCreate)), size };
}

function allocationCost(size: number): number {
  return size + 1 + costs.listCreate;
}

function comparisonCost(text: boolean): number {
  return 2 + (text ? costs.stringTraversal : 0);
}

function isText(value: Outcome | undefined): boolean {
  return typeof value === "string" || value instanceof Uint8Array;
}
