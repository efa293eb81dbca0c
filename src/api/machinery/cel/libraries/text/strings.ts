/**
 * CEL's extension for strings, in the version that Kubernetes has: no `reverse`, and the old number format in `format`.
 */

import { type Costs, costSize, sizeRange, traversal, walk } from "../../functions/call-costs.ts";
import { addRanges, costs, multiplyRanges, type Range, range, scaleRange, unlimited } from "../../functions/cost.ts";
import { type CallEstimate, fn, global, type Library, member, type SizedNode } from "../../functions/function.ts";
import { dyn, int, list, string } from "../../values/type.ts";
import { ArrayList, CelError, type ListValue, type Outcome } from "../../values/value.ts";
import { itemsOf } from "../collections/list-items.ts";
import { searching } from "../collections/lists.ts";
import {
  characterAt,
  firstIndex,
  join,
  lastIndex,
  lowerAscii,
  quote,
  replace,
  split,
  substring,
  substringRange,
  trim,
  upperAscii,
} from "./characters.ts";
import { format } from "./string-format.ts";

const sameSize = walk({ size: (text) => text });
const quoting = walk({ size: ({ min, max }) => range(min + 2, max * 2 + 2) });
const rebuilding = walk({ times: 2 });
const replacing: Costs = { cost: rebuilding.cost, estimate: estimateReplace };
const splitting: Costs = { cost: rebuilding.cost, estimate: estimateSplit };
const joining: Costs = { cost: (_, result) => traversal(costSize(result), 2), estimate: estimateJoin };

export const strings: Library = {
  name: "cel.lib.ext.strings",
  functions: [
    fn("charAt", member("string_char_at_int", [string, int], string, characterAt)),
    fn(
      "indexOf",
      member(
        "string_index_of_string",
        [string, string],
        int,
        (text: string, part: string) => firstIndex(text, part, 0n),
        searching,
      ),
      member("string_index_of_string_int", [string, string, int], int, firstIndex, searching),
    ),
    fn(
      "lastIndexOf",
      member(
        "string_last_index_of_string",
        [string, string],
        int,
        (text: string, part: string) => lastIndex(text, part),
        searching,
      ),
      member(
        "string_last_index_of_string_int",
        [string, string, int],
        int,
        (text: string, part: string, offset: bigint) => lastIndex(text, part, offset),
        searching,
      ),
    ),
    fn("lowerAscii", member("string_lower_ascii", [string], string, lowerAscii, sameSize)),
    fn("upperAscii", member("string_upper_ascii", [string], string, upperAscii, sameSize)),
    fn("trim", member("string_trim", [string], string, trim, sameSize)),
    fn(
      "substring",
      member(
        "string_substring_int",
        [string, int],
        string,
        (text: string, start: bigint) => substring(text, start),
        sameSize,
      ),
      member("string_substring_int_int", [string, int, int], string, substringRange, sameSize),
    ),
    fn(
      "replace",
      member(
        "string_replace_string_string",
        [string, string, string],
        string,
        (text: string, old: string, by: string) => replace(text, old, by, -1n),
        replacing,
      ),
      member("string_replace_string_string_int", [string, string, string, int], string, replace, replacing),
    ),
    fn(
      "split",
      member(
        "string_split_string",
        [string, string],
        list(string),
        (text: string, separator: string) => new ArrayList(split(text, separator, -1n)),
        splitting,
      ),
      member(
        "string_split_string_int",
        [string, string, int],
        list(string),
        (text: string, separator: string, limit: bigint) => new ArrayList(split(text, separator, limit)),
        splitting,
      ),
    ),
    fn(
      "join",
      member("list_join", [list(string)], string, (items: ListValue) => joined(items, ""), joining),
      member("list_join_string", [list(string), string], string, joined, joining),
    ),
    fn("format", member("string_format", [string, list(dyn)], string, format, walk())),
    fn("strings.quote", global("strings_quote", [string], string, quote, quoting)),
  ],
};

function joined(items: ListValue, separator: string): Outcome {
  const values = itemsOf(items);
  if (values instanceof CelError) return values;
  const texts = values.filter((value) => typeof value === "string");
  if (texts.length < values.length) return new CelError("join: invalid input: a list of strings is wanted");
  return join(texts, separator);
}

/** The maximum length of the result: as many replacements as fit, or none. */
function estimateReplace([text, old, by]: readonly SizedNode[]): CallEstimate {
  const size = sizeRange(text);
  const most = longestReplaced(size, sizeRange(old), sizeRange(by));
  const least = shortestReplaced(size, sizeRange(old), sizeRange(by));
  const replaced = multiplyRanges(range(least.count, most.count), sizeRange(by));
  return {
    cost: scaleRange(size, 2 * costs.stringTraversal),
    size: addRanges(replaced, range(least.kept, most.kept)),
  };
}

interface Replaced {
  /** How many replacements. */
  readonly count: number;
  /** How much of the text stays. */
  readonly kept: number;
}

function longestReplaced(text: Range, old: Range, by: Range): Replaced {
  if (old.min === 0) return { count: text.max < unlimited ? text.max + 1 : text.max, kept: text.max };
  if (by.max <= old.min) return { count: 0, kept: text.max };
  return { count: Math.ceil(text.max / old.min), kept: 0 };
}

function shortestReplaced(text: Range, old: Range, by: Range): Replaced {
  if (old.max === 0) return { count: text.min < unlimited ? text.min + 1 : text.min, kept: text.min };
  if (by.min >= old.max) return { count: 0, kept: text.min };
  return { count: Math.ceil(text.min / old.max), kept: 0 };
}

/** At worst, each character is a piece of its own. */
function estimateSplit([text, , limit]: readonly SizedNode[]): CallEstimate {
  const size = sizeRange(text);
  const most = typeof limit?.literal === "bigint" ? Number(BigInt.asUintN(64, limit.literal)) : size.max;
  return { cost: scaleRange(size, 2 * costs.stringTraversal), size: range(0, most) };
}

function estimateJoin([items, separator]: readonly SizedNode[]): CallEstimate {
  const count = sizeRange(items);
  const element = items?.element;
  let size = element === undefined ? range(0) : multiplyRanges(count, element.size);
  if (separator !== undefined) {
    const between = range(Math.max(0, count.min - 1), Math.max(0, count.max - 1));
    size = addRanges(size, multiplyRanges(sizeRange(separator), between));
  }
  return { cost: scaleRange(size, costs.stringTraversal), size };
}
