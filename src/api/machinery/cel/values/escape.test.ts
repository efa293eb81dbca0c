import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escapeName, unescapeName } from "./escape.ts";

describe("names of properties", () => {
  it.each([
    ["plain", "plain"],
    ["_x", "_x"],
    ["a_b", "a_b"],
    ["a__b", "a__underscores__b"],
    ["a-b.c/d", "a__dash__b__dot__c__slash__d"],
    ["namespace", "__namespace__"],
    ["in", "__in__"],
    ["1st", undefined],
    ["", undefined],
    ["a b", undefined],
    ["é", undefined],
  ])("%s is %s", (name, want) => {
    expect(escapeName(name)).toBe(want);
    if (want !== undefined) expect(unescapeName(want)).toBe(name);
  });

  it.each(["__what__", "a__in__", "__dot"])("%s", (escaped) => {
    expect(unescapeName(escaped)).toBe(escaped === "__dot" ? "__dot" : undefined);
  });

  it("come back, whatever they are", () => {
    const character = fc.constantFrom(..."ab1_-./");
    fc.assert(
      fc.property(fc.string({ unit: character, minLength: 1 }), (name) => {
        const escaped = escapeName(name);
        if (escaped === undefined) return;
        expect(escaped).toMatch(/^[A-Za-z_][A-Za-z0-9_]*$/);
        expect(unescapeName(escaped)).toBe(name);
      }),
    );
  });
});
