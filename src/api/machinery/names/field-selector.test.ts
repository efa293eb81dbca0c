import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exactValue, type FieldTerm, fieldMatcherOf, parseFieldSelector } from "./field-selector.ts";

const fields: Readonly<Record<string, string>> = { "metadata.name": "p", "status.phase": "Running", odd: "a,b=c\\d" };
const read = (field: string) => fields[field] ?? "";

describe("field selectors", () => {
  it.each([
    ["", true, ""],
    ["status.phase=Running", true, "status.phase=Running"],
    ["status.phase==Running", true, "status.phase=Running"],
    ["status.phase!=Running", false, "status.phase!=Running"],
    ["spec.nodeName=", true, "spec.nodeName="],
    ["status.phase=Running,metadata.name=q", false, "metadata.name=q,status.phase=Running"],
    ["odd=a\\,b\\=c\\\\d", true, "odd=a\\,b\\=c\\\\d"],
    ["a=b,", false, "a=b"],
  ])("%j", (text, matches, canonical) => {
    const matcher = parseFieldSelector(text);
    expect(matcher.matches(read)).toBe(matches);
    expect(matcher.toString()).toBe(canonical);
  });

  it.each([
    ["nonsense", "invalid selector: 'nonsense'; can't understand 'nonsense'"],
    ["metadata.name in (a)", "invalid selector: 'metadata.name in (a)'; can't understand 'metadata.name in (a)'"],
    ["a=b,c", "invalid selector: 'a=b,c'; can't understand 'c'"],
    ["a=b=c", "invalid field selector: unescaped character in value: ="],
    ["a=\\x", "invalid field selector: invalid escape sequence: \\x"],
  ])("refuses %j", (text, message) => expect(() => parseFieldSelector(text)).toThrow(message));

  it("tell the value that they ask for", () => {
    const matcher = parseFieldSelector("metadata.name=p,spec.nodeName!=n");
    expect([exactValue(matcher, "metadata.name"), exactValue(matcher, "spec.nodeName")]).toEqual(["p", undefined]);
  });

  it("mean the same when they are written and read again", () => {
    const term: fc.Arbitrary<FieldTerm> = fc.record({
      field: fc.constantFrom("a", "b.c"),
      operator: fc.constantFrom("=", "!="),
      value: fc.string(),
    });
    fc.assert(
      fc.property(fc.array(term), (terms) => {
        const matcher = fieldMatcherOf(terms);
        expect(parseFieldSelector(matcher.toString()).terms).toEqual(matcher.terms);
      }),
    );
  });
});
