import { describe, expect, it } from "vitest";
import { table } from "./table.ts";

describe("a lookup table", () => {
  const numbers = table({ one: 1, two: 2 });

  it.each(["constructor", "__proto__", "toString", "hasOwnProperty", "three"])("does not have %s", (key) => {
    expect(numbers[key]).toBeUndefined();
  });

  it("has its entries, and keeps them", () => {
    expect([numbers.one, Object.keys(numbers)]).toEqual([1, ["one", "two"]]);
    expect(() => Object.assign(numbers, { one: 3 })).toThrow(TypeError);
  });
});
