import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { around, beside, diff } from "./diff.ts";

const written = (before: string, after: string) => diff(before, after).map(({ sign, text }) => sign + text);

describe("a diff", () => {
  it.each([
    ["a\nb\nc", "a\nb\nc", [" a", " b", " c"]],
    ["a\nb\nc", "a\nx\nc", [" a", "-b", "+x", " c"]],
    ["a\nc", "a\nb\nc", [" a", "+b", " c"]],
    ["a\nb\nc\nd", "a\nd", [" a", "-b", "-c", " d"]],
    ["a\na\nb", "a\nb\nb", [" a", "-a", "+b", " b"]],
  ])("of %j and %j", (before, after, want) => {
    expect(written(before, after)).toEqual(want);
  });

  it("leads from one text to the other, whatever they are", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 12 }).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diff(before, after);
        const side = (sign: string) =>
          lines.filter((line) => line.sign === " " || line.sign === sign).map((line) => line.text);
        expect(side("-").join("\n")).toBe(before);
        expect(side("+").join("\n")).toBe(after);
      }),
    );
  });

  it("shows what changed, and counts the rest", () => {
    const before = Array.from({ length: 20 }, (_, at) => `line ${at}`);
    const after = before.with(10, "changed");
    expect(around(diff(before.join("\n"), after.join("\n")), 1)).toEqual([
      { sign: "…", text: "9 unchanged lines" },
      { sign: " ", text: "line 9" },
      { sign: "-", text: "line 10" },
      { sign: "+", text: "changed" },
      { sign: " ", text: "line 11" },
      { sign: "…", text: "8 unchanged lines" },
    ]);
  });
});

it("puts what was removed beside what was added in its place", () => {
  expect(beside(diff("a\nb\nc\nd", "a\nx\nd"))).toEqual([
    { before: "a", after: "a", isChanged: false },
    { before: "b", after: "x", isChanged: true },
    { before: "c", after: undefined, isChanged: true },
    { before: "d", after: "d", isChanged: false },
  ]);
});
