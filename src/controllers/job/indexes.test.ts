import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  countIndexes,
  countShared,
  firstMissing,
  hasIndex,
  indexesOf,
  readIndexes,
  union,
  writeIndexes,
} from "./indexes.ts";

const LIMIT = 30;
const numbers = fc.uniqueArray(fc.nat(LIMIT - 1)).map((list) => list.sort((a, b) => a - b));
const members = (set: ReturnType<typeof indexesOf>) =>
  Array.from({ length: LIMIT }, (_, index) => index).filter((index) => hasIndex(set, index));

describe("indexes", () => {
  it.each([
    { text: "", list: [] },
    { text: "0", list: [0] },
    { text: "0,1", list: [0, 1] },
    { text: "0-2", list: [0, 1, 2] },
    { text: "1,3-5,7", list: [1, 3, 4, 5, 7] },
  ])("$list is written $text", ({ text, list }) => {
    expect(writeIndexes(indexesOf(list))).toBe(text);
    expect(members(readIndexes(text, LIMIT))).toEqual(list);
  });

  it.each([
    { name: "beyond the number of completions", text: "1,3-9", want: [1, 3, 4] },
    { name: "that is no interval", text: "x,1,2-y,3", want: [1, 3] },
  ])("passes over what is $name", ({ text, want }) => {
    expect(members(readIndexes(text, 5))).toEqual(want);
  });

  it("are sets (property)", () => {
    fc.assert(
      fc.property(numbers, numbers, fc.nat(LIMIT), (a, b, count) => {
        const [one, other] = [indexesOf(a), indexesOf(b)];
        expect(members(one)).toEqual(a);
        expect(countIndexes(one)).toBe(a.length);
        expect(members(union(one, other))).toEqual([...new Set([...a, ...b])].sort((x, y) => x - y));
        expect(countShared(one, other)).toBe(a.filter((index) => b.includes(index)).length);
        expect(readIndexes(writeIndexes(one), LIMIT)).toEqual(one);
        expect(firstMissing(one, count, LIMIT)).toEqual(
          Array.from({ length: LIMIT }, (_, index) => index)
            .filter((index) => !a.includes(index))
            .slice(0, count),
        );
      }),
    );
  });
});
