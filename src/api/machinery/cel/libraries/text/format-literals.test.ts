import { describe, expect, it } from "vitest";
import { check } from "../../check/check.ts";
import { standardLibrary } from "../../standard/standard-library.ts";
import { parse } from "../../syntax/parser.ts";
import { formatIssues } from "../../syntax/source.ts";
import { quantity } from "../quantity.ts";
import { formatLiteralIssues } from "./format-literals.ts";
import { strings } from "./strings.ts";

const functions = new Map(
  [standardLibrary, strings, quantity].flatMap(({ functions = [] }) =>
    functions.map((each) => [each.name, each] as const),
  ),
);

/** The issues of a template and its arguments, as users are shown them; only the first line of each. */
function issues(expression: string): string {
  const parsed = parse(expression, new Map());
  if (!parsed.ok) throw new Error(formatIssues(expression, parsed.issues));
  const names = { container: "", variables: new Map(), constants: new Map(), types: new Map(), functions };
  const checked = check(parsed.expr, names);
  if (checked.issues.length > 0) throw new Error(formatIssues(expression, checked.issues));
  return formatIssues(expression, formatLiteralIssues(checked)).split("\n")[0] ?? "";
}

describe("templates that can work", () => {
  it.each([
    "'%s %d %f %e %b %o %x %X'.format(['a', 1, 1.5, 1.5, true, 8, 'a', b'a'])",
    "'%f %e'.format(['NaN', 'Infinity'])",
    "'%s'.format([[1, {'a': duration('1s')}]])",
    "'%d %s'.format([dyn('a'), dyn(1)])",
    "'%s'.format([null])",
    "('%d' + '').format(['a'])",
  ])("%s", (expression) => {
    expect(issues(expression)).toBe("");
  });
});

describe("templates that can only fail", () => {
  it.each([
    [
      "'%d'.format(['a'])",
      "1:14: error during formatting: decimal clause can only be used on integers, was given string",
    ],
    [
      "'%s %b'.format([1, 1.5])",
      "1:20: error during formatting: only integers and bools can be formatted as binary, was given double",
    ],
    [
      "'%s'.format([[quantity('1')]])",
      "1:23: error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given kubernetes.Quantity",
    ],
    ["'%s %s'.format(['a'])", "1:15: index 1 out of range"],
    ["'%s'.format(['a', 'b'])", "1:12: too many arguments supplied to string.format (expected 1, got 2)"],
    ["'%q'.format(['a'])", '1:12: could not parse formatting clause: unrecognized formatting clause "q"'],
  ])("%s", (expression, want) => {
    expect(issues(expression)).toBe(`ERROR: <input>:${want}`);
  });
});
