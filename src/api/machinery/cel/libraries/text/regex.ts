/**
 * `find` and `findAll`.
 *
 * 1. RE2 syntax, linear time for each match. Matches are leftmost-first, as in Perl.
 * 2. An empty match right after another match does not count.
 * 3. Patterns are nearly always literals, so compiled ones are kept, up to a limit.
 */
import type { RE2JS } from "re2js";
import { LruMap } from "#base";
import { type Costs, costSize, patternCost, patternEstimate, sizeRange } from "../../functions/call-costs.ts";
import { range } from "../../functions/cost.ts";
import { fn, type Library, member } from "../../functions/function.ts";
import { compileRegex } from "../../standard/text-functions.ts";
import { int, list, string } from "../../values/type.ts";
import { ArrayList, CelError, type Outcome } from "../../values/value.ts";

const kept = 256;

const matching: Costs = {
  cost: ([text, pattern]) => patternCost(costSize(text), costSize(pattern)),
  estimate: ([text, pattern]) => ({
    cost: patternEstimate(sizeRange(text), sizeRange(pattern)),
    // At worst, each character is a match of its own.
    size: range(0, sizeRange(text).max),
  }),
};

export function regex(): Library {
  const compile = compiler();
  const find = (text: string, pattern: string): Outcome => {
    const compiled = compile(pattern);
    if (compiled instanceof CelError) return compiled;
    const matcher = compiled.matcher(text);
    return matcher.find() ? (matcher.group() ?? "") : "";
  };
  const findAll = (text: string, pattern: string, limit: bigint): Outcome => {
    const compiled = compile(pattern);
    return compiled instanceof CelError ? compiled : new ArrayList(matches(compiled, text, limit));
  };
  return {
    name: "kubernetes.regex",
    functions: [
      fn("find", member("string_find_string", [string, string], string, find, matching)),
      fn(
        "findAll",
        member(
          "string_find_all_string",
          [string, string],
          list(string),
          (text: string, pattern: string) => findAll(text, pattern, -1n),
          matching,
        ),
        member("string_find_all_string_int", [string, string, int], list(string), findAll, matching),
      ),
    ],
  };
}

function matches(pattern: RE2JS, text: string, limit: bigint): readonly string[] {
  const found: string[] = [];
  const matcher = pattern.matcher(text);
  let from = 0;
  let lastEnd = -1;
  while (from <= text.length && (limit < 0n || found.length < limit) && matcher.find(from)) {
    const [start, end] = [matcher.start(), matcher.end()];
    if (end > start || start !== lastEnd) found.push(text.slice(start, end));
    lastEnd = end;
    from = end > from ? end : end + ((text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1);
  }
  return found;
}

function compiler(): (pattern: string) => RE2JS | CelError {
  const known = new LruMap<string, RE2JS | CelError>(kept);
  return (pattern) => {
    let compiled = known.get(pattern);
    if (compiled === undefined) {
      compiled = compileAnew(pattern);
      known.set(pattern, compiled);
    }
    return compiled;
  };
}

function compileAnew(pattern: string): RE2JS | CelError {
  const compiled = compileRegex(pattern);
  return compiled instanceof CelError ? new CelError(`Illegal regex: ${compiled.message}`) : compiled;
}
