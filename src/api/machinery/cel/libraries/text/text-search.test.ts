import fc from "fast-check";
import { expect, it } from "vitest";
import { indexOf, lastIndexOf, places } from "./text-search.ts";

const letters = (min: number, max: number) =>
  fc.array(fc.constantFrom("a", "b"), { minLength: min, maxLength: max }).map((chars) => chars.join(""));

it("finds what the engine finds", () => {
  fc.assert(
    fc.property(letters(65, 70), letters(0, 80), letters(0, 80), fc.nat(200), (needle, before, after, from) => {
      const text = before + needle + after + needle;
      expect(indexOf(text, needle, from)).toBe(text.indexOf(needle, from));
      expect(lastIndexOf(text, needle, from)).toBe(text.lastIndexOf(needle, from));
      expect(indexOf(text, `${needle}c`)).toBe(-1);
      expect(lastIndexOf(text, `c${needle}`)).toBe(-1);
    }),
  );
});

it("takes linear time for texts at which others take the product", () => {
  const text = "a".repeat(1_000_000);
  const half = "a".repeat(200_000);
  for (const needle of [`${half}b`, `b${half}`, `${half}b${half}`])
    expect([indexOf(text, needle), lastIndexOf(text, needle)]).toEqual([-1, -1]);
});

it("names every place once", () => {
  expect([...places("aaaaa", "aa")]).toEqual([0, 2]);
  expect([...places("a-a-a", "a", 2)]).toEqual([0, 2]);
  expect([...places("abc", "x")]).toEqual([]);
});
