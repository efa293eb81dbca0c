import { describe, expect, it } from "vitest";
import { isPercentage, scaledIntOrString } from "./int-or-string.ts";

describe("int or string", () => {
  it.each([
    [5, 100, "up", 5],
    ["25%", 10, "up", 3],
    ["25%", 10, "down", 2],
    ["0%", 10, "up", 0],
    ["100%", 7, "down", 7],
    ["150%", 2, "down", 3],
  ] as const)("%s of %i, rounded %s, is %i", (value, total, rounding, want) =>
    expect(scaledIntOrString(value, total, rounding)).toBe(want),
  );

  it.each([
    ["5", "invalid value for IntOrString: invalid type: string is not a percentage"],
    ["x%", 'invalid value for IntOrString: invalid value "x%": strconv.Atoi: parsing "x": invalid syntax'],
  ])("refuses %s", (value, message) => expect(() => scaledIntOrString(value, 10, "up")).toThrow(message));

  it("knows percentages", () => {
    expect(["5%", "05%", "-5%", "5", 5].map((value) => isPercentage(value))).toEqual([true, true, false, false, false]);
  });
});
