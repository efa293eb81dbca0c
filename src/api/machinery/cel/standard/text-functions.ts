/** String functions of the language, and size. Regular expressions take linear time (RE2). */
import { RE2JS, RE2JSException } from "re2js";
import { addRanges, costs, multiplyRanges, range, scaleRange, unlimited } from "../functions/cost.ts";
import {
  type Estimate,
  type FunctionDeclaration,
  fn,
  global,
  member,
  type RunCost,
  type SizedNode,
} from "../functions/function.ts";
import * as types from "../values/type.ts";
import { CelError, costSize, type Outcome, sizeOf, type Value } from "../values/value.ts";

const { bool, bytes, int, string } = types;
const anyList = types.list(types.parameter("A"));
const anyMap = types.map(types.parameter("A"), types.parameter("B"));

const size = (value: Value): Outcome => BigInt(sizeOf(value) ?? 0);

/** At most the length of the argument is compared. */
const walkCost: RunCost = ([, part = ""]: readonly Value[]) => Math.ceil(costSize(part) * costs.stringTraversal);
const walkEstimate: Estimate = ([, part]) => ({ cost: scaleRange(sizeRange(part), costs.stringTraversal) });

const searchCost: RunCost = ([text = "", part = ""]: readonly Value[]) =>
  Math.ceil(costSize(text) * costs.stringTraversal) * Math.ceil(costSize(part) * costs.stringTraversal);
const searchEstimate: Estimate = ([text, part]) => ({
  cost: multiplyRanges(
    scaleRange(sizeRange(text), costs.stringTraversal),
    scaleRange(sizeRange(part), costs.stringTraversal),
  ),
});

/** One more than the length, so that an expensive pattern is not free on an empty string. */
const matchCost: RunCost = ([text = "", pattern = ""]: readonly Value[]) =>
  Math.ceil((1 + costSize(text)) * costs.stringTraversal) * Math.ceil(costSize(pattern) * costs.regexLength);
const matchEstimate: Estimate = ([text, pattern]) => ({
  cost: multiplyRanges(
    scaleRange(addRanges(sizeRange(text), range(1)), costs.stringTraversal),
    scaleRange(sizeRange(pattern), costs.regexLength),
  ),
});

function sizeRange(node: SizedNode | undefined): SizedNode["size"] {
  return node?.size ?? range(0, unlimited);
}

/** The compiled pattern, or the error of an invalid one. */
export function compileRegex(pattern: string): RE2JS | CelError {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return new CelError(error.message);
  }
}

function matches(text: string, pattern: string): Outcome {
  const regex = compileRegex(pattern);
  return regex instanceof CelError ? regex : regex.matcher(text).find();
}

export const textFunctions: readonly FunctionDeclaration[] = [
  fn(
    "size",
    ...[
      ["bytes", bytes] as const,
      ["list", anyList] as const,
      ["map", anyMap] as const,
      ["string", string] as const,
    ].flatMap(([name, type]) => [global(`size_${name}`, [type], int, size), member(`${name}_size`, [type], int, size)]),
  ),
  fn(
    "contains",
    member("contains_string", [string, string], bool, (text: string, part: string) => text.includes(part), {
      cost: searchCost,
      estimate: searchEstimate,
    }),
  ),
  fn(
    "startsWith",
    member("starts_with_string", [string, string], bool, (text: string, part: string) => text.startsWith(part), {
      cost: walkCost,
      estimate: walkEstimate,
    }),
  ),
  fn(
    "endsWith",
    member("ends_with_string", [string, string], bool, (text: string, part: string) => text.endsWith(part), {
      cost: walkCost,
      estimate: walkEstimate,
    }),
  ),
  fn(
    "matches",
    global("matches", [string, string], bool, matches),
    member("matches_string", [string, string], bool, matches, { cost: matchCost, estimate: matchEstimate }),
  ),
];
