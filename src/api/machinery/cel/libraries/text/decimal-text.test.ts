import { describe, expect, it } from "vitest";
import { fixedDecimal, scientificDecimal } from "./decimal-text.ts";

describe("fixed-point", () => {
  it.each([
    [3.25, 6, "3.250000"],
    [12345.678, 6, "12,345.678000"],
    [-1234567.5, 2, "-1,234,567.50"],
    [0, 0, "0"],
    [2.5, 0, "2"],
    [3.5, 0, "4"],
    [0.125, 2, "0.12"],
    [0.1, 20, "0.10000000000000000555"],
    [1e21, 1, "1,000,000,000,000,000,000,000.0"],
    [5e-324, 3, "0.000"],
    [Number.NaN, 6, "NaN"],
    [Number.POSITIVE_INFINITY, 6, "∞"],
    [Number.NEGATIVE_INFINITY, 6, "-∞"],
  ])("%d with %d digits is %s", (value, precision, want) => {
    expect(fixedDecimal(value, precision)).toBe(want);
  });

  it("pads what has no more digits", () => {
    expect(fixedDecimal(0.5, 2000)).toBe(`0.5${"0".repeat(1999)}`);
  });

  it("leaves groups out if asked to", () => {
    expect(fixedDecimal(12345.5, 1, { grouped: false })).toBe("12345.5");
  });
});

describe("scientific", () => {
  it.each([
    [2.72, "2.720000×10⁰⁰"],
    [1052.032911275, "1.052033×10⁰³"],
    [-1e-7, "-1.000000×10⁻⁰⁷"],
    [1.5e300, "1.500000×10³⁰⁰"],
    [1.0000005, "1.000001×10⁰⁰"],
    [4194304.5, "4.194304×10⁰⁶"],
    [4194305.5, "4.194306×10⁰⁶"],
    [Number.POSITIVE_INFINITY, "∞"],
  ])("%d is %s", (value, want) => {
    expect(scientificDecimal(value)).toBe(want);
  });
});
