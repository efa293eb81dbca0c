/**
 * What calls of library functions cost, and what they may cost before there are values.
 *
 * 1. The figures are Kubernetes' own. Estimates decide which CustomResourceDefinitions are accepted: none may be changed for the better.
 * 2. A share of a unit counts as a whole one, except in `dataSize`, which cuts it off.
 */

import { CelError, ListValue, MapValue, type Outcome, costSize as sizeForCost, type Value } from "../values/value.ts";
import { addRanges, costs, multiplyRanges, type Range, range, scaleRange } from "./cost.ts";
import { fixedCost, type Overload, type SizedNode } from "./function.ts";

export type Costs = Required<Pick<Overload, "cost" | "estimate">>;

export const nominal: Costs = fixedCost(1);

/** What costs go by: 1 for what has no size of its own. */
export function costSize(value: Value | undefined): number {
  return value === undefined ? 1 : sizeForCost(value);
}

export function sizeRange(node: SizedNode | undefined): Range {
  return node?.size ?? range(1);
}

export function traversal(size: number, times = 1): number {
  return Math.ceil(size * times * costs.stringTraversal);
}

/** One walk through the first argument, or as many as `times` says. `size` tells how big the result may be, from the argument's size. */
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

/** A text against a pattern: one step for each character and each expression, which is taken to be four characters long. */
export function patternCost(textSize: number, patternSize: number): number {
  return traversal(textSize + 1) * Math.ceil(patternSize * costs.regexLength);
}

export function patternEstimate(text: Range, pattern: Range): Range {
  const walked = scaleRange(addRanges(text, range(1)), costs.stringTraversal);
  return multiplyRanges(walked, scaleRange(pattern, costs.regexLength));
}

/** All that is in a value, however deep: a tenth for each byte of a text, one for anything else. */
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
