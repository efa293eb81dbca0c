import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recordings } from "../../testing/recordings.ts";
import { at, fieldErrorText } from "../errors/field-error.ts";
import { isObject, type JsonObject } from "../json/json.ts";
import { parseLabelSelector } from "./label-syntax.ts";
import {
  everything,
  type LabelRequirement,
  LabelSelectorError,
  type Labels,
  matcherOf,
  matcherOfSelector,
  nothing,
  validateLabelSelector,
} from "./labels.ts";

const web = { app: "web", tier: "front", size: "3" };

describe("label selectors in their string form", () => {
  it.each([
    ["", true, ""],
    ["app=web", true, "app=web"],
    ["app==web", true, "app==web"],
    ["app!=web", false, "app!=web"],
    ["other!=web", true, "other!=web"],
    ["app in (web, db)", true, "app in (db,web)"],
    ["app notin (web)", false, "app notin (web)"],
    ["other notin (web)", true, "other notin (web)"],
    ["app", true, "app"],
    ["!app", false, "!app"],
    ["!other", true, "!other"],
    ["size>2", true, "size>2"],
    ["size<2", false, "size<2"],
    ["app>2", false, "app>2"],
    ["other>2", false, "other>2"],
    ["tier=front,app=web", true, "app=web,tier=front"],
    [" app = web , tier ", true, "app=web,tier"],
    ["app=", false, "app="],
    ["app in (,web)", true, "app in (,web)"],
    ["app in (db,)", false, "app in (,db)"],
    ["in in (notin)", false, "in in (notin)"],
    ["example.com/a=b", false, "example.com/a=b"],
  ])("%j", (text, matches, canonical) => {
    const matcher = parseLabelSelector(text);
    expect(matcher.matches(web)).toBe(matches);
    expect(matcher.toString()).toBe(canonical);
  });

  it.each([
    ["a in", "unable to parse requirement: found '' expected: '('"],
    ["a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ["a in (b", "unable to parse requirement: found '', expected: ',' or ')'"],
    [
      "a in ()",
      "unable to parse requirement: values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
    ],
    ["=x", "found '=', expected: !, identifier, or 'end of string'"],
    ["a=b=c", "found '=', expected: ',' or 'end of string'"],
    ["a,,b", "found ',', expected: identifier after ','"],
    ["a,", "found '', expected: identifier after ','"],
    ["!!a", "unable to parse requirement: found '!', expected: identifier"],
    ["a b=x", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ["a=!", "unable to parse requirement: found '!', expected: identifier"],
    [
      "a>b",
      "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
  ])("refuses %j", (text, message) => expect(() => parseLabelSelector(text)).toThrow(message));
});

const cases = recordings("oracle/");

describe.skipIf(!existsSync(cases))("selectors that a real server refused", () => {
  const read = (path: string) => JSON.parse(readFileSync(new URL(path, cases), "utf8")) as JsonObject;

  it.each(["label-bad", "label-numbers"])("%s", (name) => {
    const { steps: requests } = read(`cases/${name}.json`) as unknown as { steps: { path: string }[] };
    const { steps: answers } = read(`golden/${name}.json`) as unknown as { steps: { body?: JsonObject }[] };
    let refused = 0;
    for (const [i, { path }] of requests.entries()) {
      const text = new URL(path, "http://x").searchParams.get("labelSelector");
      const body = answers[i]?.body;
      if (text === null || !isObject(body) || body["/reason"] !== "BadRequest") continue;
      refused++;
      expect(() => parseLabelSelector(text)).toThrow(new LabelSelectorError(String(body["/message"])));
    }
    expect(refused).toBeGreaterThan(0);
  });
});

describe("LabelSelector objects", () => {
  it.each([
    [undefined, false],
    [{}, true],
    [{ matchLabels: { app: "web" } }, true],
    [{ matchLabels: { app: "db" } }, false],
    [{ matchExpressions: [{ key: "app", operator: "In", values: ["web", "db"] }] }, true],
    [{ matchExpressions: [{ key: "app", operator: "NotIn", values: ["web"] }] }, false],
    [{ matchExpressions: [{ key: "app", operator: "Exists" }] }, true],
    [{ matchLabels: { app: "web" }, matchExpressions: [{ key: "tier", operator: "DoesNotExist" }] }, false],
  ])("%j", (selector, want) => expect(matcherOfSelector(selector).matches(web)).toBe(want));

  it("know everything and nothing", () => {
    expect(everything.matches(undefined)).toBe(true);
    expect(nothing.matches({})).toBe(false);
    expect(nothing.nothing).toBe(true);
    expect(matcherOfSelector(undefined)).toBe(nothing);
    expect(matcherOfSelector({})).toBe(everything);
  });

  it("refuse what is no operator", () => {
    expect(() => matcherOfSelector({ matchExpressions: [{ key: "a", operator: "Foo" }] })).toThrow(
      '"Foo" is not a valid label selector operator',
    );
  });

  it.each([
    [
      { matchExpressions: [{ key: "a", operator: "Foo" }] },
      ['s.matchExpressions[0].operator: Invalid value: "Foo": not a valid selector operator'],
    ],
    [
      { matchExpressions: [{ key: "a", operator: "In" }] },
      ["s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"],
    ],
    [
      { matchExpressions: [{ key: "a", operator: "Exists", values: ["x"] }] },
      ["s.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"],
    ],
    [{ matchLabels: { "/x": "y" } }, ['s.matchLabels: Invalid value: "/x": prefix part must be non-empty']],
    [{ matchExpressions: [{ key: "a", operator: "In", values: ["x"] }] }, []],
    [undefined, []],
  ])("are validated: %j", (selector, want) => {
    expect(validateLabelSelector(selector, at("s")).map(fieldErrorText)).toEqual(want);
  });

  it("do not take inherited properties for labels", () => {
    expect(parseLabelSelector("constructor").matches({})).toBe(false);
    expect(parseLabelSelector("!toString").matches({})).toBe(true);
  });
});

const key = fc.constantFrom("a", "b", "c");
const value = fc.constantFrom("", "1", "2", "x");
const labels: fc.Arbitrary<Labels> = fc.dictionary(key, value);
/** `a in ()` cannot be distinguished from a list without values. */
const values = fc.uniqueArray(value, { minLength: 1 }).filter((list) => list.join() !== "");
const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc.record({ key, operator: fc.constantFrom("=", "==", "!="), values: fc.tuple(value) }),
  fc.record({ key, operator: fc.constantFrom("in", "notin"), values }),
  fc.record({ key, operator: fc.constantFrom("exists", "!"), values: fc.constant([]) }),
  fc.record({ key, operator: fc.constantFrom("gt", "lt"), values: fc.constantFrom(["1"], ["2"]) }),
);

describe("label selectors always", () => {
  it("mean the same when they are written and read again", () => {
    fc.assert(
      fc.property(fc.array(requirement), labels, (requirements, given) => {
        const matcher = matcherOf(requirements);
        const again = parseLabelSelector(matcher.toString());
        expect(again.matches(given)).toBe(matcher.matches(given));
        expect(again.toString()).toBe(matcher.toString());
      }),
    );
  });

  it("ask for all of their requirements", () => {
    fc.assert(
      fc.property(fc.array(requirement), labels, (requirements, given) => {
        const each = requirements.every((one) => matcherOf([one]).matches(given));
        expect(matcherOf(requirements).matches(given)).toBe(each);
      }),
    );
  });

  it("are opposites in pairs", () => {
    fc.assert(
      fc.property(key, fc.uniqueArray(value, { minLength: 1 }), labels, (name, values, given) => {
        const one = matcherOf([{ key: name, operator: "in", values }]);
        const other = matcherOf([{ key: name, operator: "notin", values }]);
        expect(one.matches(given)).toBe(!other.matches(given));
      }),
    );
  });
});
