/**
 * Actual and estimated costs of library functions.
 *
 * 1. The figures are those of Kubernetes. Estimates decide which CustomResourceDefinitions are accepted, so none may be
 *    improved.
 * 2. Fractions of a unit are rounded up, except in `dataSize`, which truncates.
 */

import { CelError, ListValue, MapValue, type Outcome, costSize as sizeForCost, type Value } from "../values/value.ts";
import { addRanges, costs, multiplyRanges, type Range, range, scaleRange } from "./cost.ts";
import { fixedCost, type Overload, type SizedNode } from "./function.ts";

export type Costs = Required<Pick<Overload, "cost" | "estimate">>;

export const nominal: Costs = fixedCost(1);

/** The size that costs depend on: 1 for values without a size. */
export function costSize(value: Value | undefined): number {
  return value === undefined ? 1 : sizeForCost(value);
}

export function sizeRange(node: SizedNode | undefined): Range {
  return node?.size ?? range(1);
}

export function traversal(size: number, times = 1): number {
  return Math.ceil(size * times * costs.stringTraversal);
}

/** One traversal of the first argument, or `times` of them. `size` estimates the result's size from the argument's. */
export function walk({ times = 1, size }: { times?: number; size?: (argument: Range) => Range } = {}): Costs {
  return {
    cost: ([first]) => traversal(costSize(first), times),
    estimate: ([first]) => {
      const argument = sizeRange(first);
      const cost = scaleRange(argument, times * costs.stringTraversal);
      return size === undefined ? { cost } : { cost, size: size(argument) };
    },
  };
}

/**
 * A string against a pattern: one step for each character and each subexpression, which is taken to be four characters
 * long.
 */
export function patternCost(textSize: number, patternSize: number): number {
  return traversal(textSize + 1) * Math.ceil(patternSize * costs.regexLength);
}

export function patternEstimate(text: Range, pattern: Range): Range {
  const walked = scaleRange(addRanges(text, range(1)), costs.stringTraversal);
  return multiplyRanges(walked, scaleRange(pattern, costs.regexLength));
}

/** The size of all data in a value, at any depth: a tenth for each byte of a string, one for anything else. */
export function dataSize(value: Value): number {
  if (typeof value === "string") return Math.floor(byteLength(value) * costs.stringTraversal);
  if (value instanceof Uint8Array) return Math.floor(value.length * costs.stringTraversal);
  let total = 0;
  const add = (part: Outcome | undefined): void => {
    total += part === undefined || part instanceof CelError ? 1 : dataSize(part);
  };
  if (value instanceof ListValue) {
    for (let index = 0; index < value.size; index++) add(value.at(index));
  } else if (value instanceof MapValue) {
    for (const key of value.keys()) {
      add(key);
      add(value.get(key));
    }
  } else {
    return 1;
  }
  return total;
}

function byteLength(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) continue;
    bytes += code < 0x800 || (code & 0xf800) === 0xd800 ? 1 : 2;
  }
  return bytes;
}
