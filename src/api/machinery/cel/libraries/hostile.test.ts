/**
 * What users may send is as big as a request. Anything that takes more than linear time would not end here before the
 * test does.
 */
import { describe, expect, it } from "vitest";
import { dyn, list, map, string } from "../values/type.ts";
import { AuthorizerValue } from "./authz.ts";
import { admission } from "./environment.ts";
import { base, evaluate } from "./testing/evaluate.ts";

const variables = { s: string, t: string, a: list(string), b: list(string), m: list(map(string, dyn)) };
const environment = base.extend({ variables });
const million = 1_000_000;
const many = Array.from({ length: 100_000 }, (_, index) => `item-${index}`);

describe("huge texts", () => {
  const s = "a".repeat(million);
  const t = `${"a".repeat(million / 4)}b${"a".repeat(million / 4)}`;
  it.each([
    ["s.indexOf(t)", -1n],
    ["s.lastIndexOf(t)", -1n],
    ["s.replace(t, '') == s", true],
    ["s.split(t).size()", 1n],
    ["s.replace('', s)", "error: result is too large"],
    ["s.replace('a', s)", "error: result is too large"],
    ["s.split('').join(t)", "error: result is too large"],
    ["('%s'.format([s])).size()", BigInt(million)],
    ["s.find('(a+a+)+b')", ""],
    ["s.substring(0, 200000).findAll('a').size()", 200_000n],
    ["isURL('https://' + s) && isURL('/' + s) && !isURL(s)", true],
    ["isIP(s) || isCIDR(s) || isIP(s + ':') || isIP('1.' + s)", false],
    ["isQuantity(s) || isSemver(s) || isSemver('1.2.' + s, true)", false],
    ["isSemver('1.2.3-' + s)", true],
    ["strings.quote(s).size() + s.trim().size() + s.upperAscii().size()", BigInt(3 * million + 2)],
  ])("%s", (expression, want) => {
    expect(evaluate(expression, { s, t }, environment)).toEqual(want);
  });
});

describe("huge numbers", () => {
  const digits = "9".repeat(300_000);
  it.each([
    ["quantity(s).isInteger()", false],
    ["quantity('0.' + s) == quantity('1')", true],
    ["quantity('-' + s).isLessThan(quantity(s))", true],
    ["isQuantity(s + 'e9999')", true],
    ["isQuantity('1e999999999')", false],
    ["isSemver(s + '.0.0')", false],
    ["isSemver('1.0.0-' + s)", false],
  ])("%s", (expression, want) => {
    expect(evaluate(expression, { s: digits }, environment)).toEqual(want);
  });
});

describe("huge lists", () => {
  it.each([
    ["sets.contains(a, b) && sets.equivalent(a, b) && sets.intersects(a, b)", true],
    ["a.distinct().size()", BigInt(many.length)],
    ["a.sort().size() + a.sortBy(x, x).size()", BigInt(2 * many.length)],
    ["a.indexOf('item-99999') + a.lastIndexOf('item-0')", 99_999n],
    ["a.min() < a.max() && !a.isSorted()", true],
    ["a.join(',').size() > 1000000", true],
    ["a.map(x, a).flatten()", "error: result is too large"],
    ["m.distinct().size()", "error: operation cancelled: actual cost limit exceeded"],
    ["sets.contains(m, [{'n': 'none'}])", false],
  ])("%s", (expression, want) => {
    const m = many.slice(0, 20_000).map((n) => ({ n }));
    expect(evaluate(expression, { a: many, b: many.toReversed(), m }, environment)).toEqual(want);
  });
});

it("reads huge selectors", () => {
  const authorizer = new AuthorizerValue({ name: "a", groups: [] }, () => ({ decision: "allow", reason: "" }));
  const policies = admission(base);
  for (const selector of ["a=b,", "((((", "x in (y,z),", "!"]) {
    const text = JSON.stringify(selector.repeat(20_000));
    for (const kind of ["fieldSelector", "labelSelector"]) {
      const source = `authorizer.group('').resource('pods').${kind}(object).check('list').allowed()`;
      const compilation = policies.compile(source);
      if (!compilation.ok) throw new Error(compilation.issues);
      expect(compilation.program.evaluate({ authorizer, object: JSON.parse(text) })).toMatchObject({ value: true });
    }
  }
});
