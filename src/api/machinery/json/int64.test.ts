import { describe, expect, it } from "vitest";
import { addInt64, compareInt64, int64Of, isInt64, numberOf, parseInt64 } from "./int64.ts";
import { plainJson } from "./json.ts";

const MAX = 9223372036854775807n;

describe("64-bit integers", () => {
  it.each([
    [5n, 5],
    [9007199254740991n, 9007199254740991],
    [9007199254740992n, 9007199254740992n],
    [-9007199254740993n, -9007199254740993n],
    [MAX, MAX],
    [MAX + 1n, undefined],
  ])("%s has one form", (value, want) => {
    expect(int64Of(value)).toBe(want);
    expect(numberOf(value)).toBe(want ?? Number(value));
    expect(plainJson(value)).toBe(numberOf(value));
  });

  it.each([
    [1, true],
    [1.5, false],
    [2 ** 53, false],
    [2n ** 53n, true],
    ["1", false],
  ])("%s is one: %s", (value, want) => expect(isInt64(value)).toBe(want));

  it.each([
    ["3546343826724305832", 3546343826724305832n],
    ["+7", 7],
    ["-9223372036854775808", -MAX - 1n],
    ["9223372036854775808", undefined],
    ["1.0", undefined],
    ["", undefined],
    [" 1", undefined],
  ])("%s is read as strconv.ParseInt does", (text, want) => expect(parseInt64(text)).toBe(want));

  it.each([
    [1, 2, 3],
    [Number.MAX_SAFE_INTEGER, 1, 9007199254740992n],
    [9007199254740992n, -1, Number.MAX_SAFE_INTEGER],
    [MAX, 1, -MAX - 1n],
  ])("%s + %s = %s", (a, b, want) => expect(addInt64(a, b)).toBe(want));

  it("sorts numbers and bigints together", () => {
    expect([MAX, 3, -MAX, 2.5, 2n ** 60n].sort(compareInt64)).toEqual([-MAX, 2.5, 3, 2n ** 60n, MAX]);
  });
});
