import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  negateQuantity,
  parseQuantity,
  quantityOf,
  roundUpQuantity,
  scaledValue,
  subtractQuantities,
} from "./quantity.ts";

const wrongFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

describe("quantities", () => {
  it.each([
    ["0", "0"],
    ["0Ki", "0"],
    ["0n", "0"],
    ["1", "1"],
    ["100m", "100m"],
    ["0.5", "500m"],
    ["1000m", "1"],
    ["1500m", "1500m"],
    ["2.000", "2"],
    ["1000000", "1M"],
    ["128M", "128M"],
    ["2048Ki", "2Mi"],
    ["1.5Gi", "1536Mi"],
    ["0.5Gi", "512Mi"],
    ["100Ki", "100Ki"],
    ["1Ei", "1Ei"],
    ["1e3", "1e3"],
    ["1E3", "1E3"],
    ["1000e3", "1e6"],
    ["1e-3", "1e-3"],
    [".5", "500m"],
    ["1.", "1."],
    ["-1500m", "-1500m"],
    ["-0.5", "-500m"],
    ["10000n", "10u"],
    ["0.1n", "1n"],
    ["0.0000000001", "1n"],
    ["-0.0000000001", "-1n"],
    ["1.0000000001", "1000000001n"],
    ["512", "512"],
    ["0.5Ki", "512"],
    ["0.001Ki", "1024m"],
    ["9223372036854775807", "9223372036854775807"],
    ["9223372036854775808", "9223372036854775808"],
    ["100Ei", "9223372036854775807"],
    ["1000E", "1e21"],
    // What Kubernetes takes for canonical stays as it was written.
    ["1.500", "1.500"],
    ["+5", "+5"],
  ])("writes %s back as %s", (text, want) => {
    expect(canonicalQuantity(text)).toBe(want);
    expect(formatQuantity(parseQuantity(text))).toBe(want);
  });

  it.each([
    ["", wrongFormat],
    ["abc", wrongFormat],
    ["1.2.3", wrongFormat],
    ["1 Gi", wrongFormat],
    ["{}", wrongFormat],
    ["1K", "unable to parse quantity's suffix"],
    ["--1", "unable to parse quantity's suffix"],
    ["1mm", "unable to parse quantity's suffix"],
    ["1ee3", "unable to parse quantity's suffix"],
  ])("refuses %j", (text, message) => expect(() => parseQuantity(text)).toThrow(message));

  it.each([
    ["1", "1000m", 0],
    ["1Ki", "1k", 1],
    ["-1", "0", -1],
    ["1e3", "1k", 0],
    ["999999999n", "1", -1],
    ["0", "1m", -1],
    ["1Ki", "0", 1],
    ["-1n", "0", -1],
    ["0", "-1k", 1],
    ["-1", "1m", -1],
    ["-2", "-1k", 1],
    ["0", "0k", 0],
  ])("compares %s and %s", (a, b, want) => expect(compareQuantities(parseQuantity(a), parseQuantity(b))).toBe(want));

  it.each([
    ["1Gi", "512Mi", "1536Mi"],
    ["1", "500m", "1500m"],
    ["0", "1Ki", "1Ki"],
    ["1Gi", "1G", "2073741824"],
    ["500m", "0.5", "1"],
  ])("adds %s and %s", (a, b, want) =>
    expect(formatQuantity(addQuantities(parseQuantity(a), parseQuantity(b)))).toBe(want),
  );

  it.each([
    ["1Gi", "512Mi", "512Mi"],
    ["0", "1Ki", "-1Ki"],
    ["1", "1", "0"],
  ])("subtracts from %s %s", (a, b, want) =>
    expect(formatQuantity(subtractQuantities(parseQuantity(a), parseQuantity(b)))).toBe(want),
  );

  it.each([
    ["1500m", 0, 2n],
    ["1500m", -3, 1500n],
    ["-1500m", 0, -2n],
    ["1Ki", -3, 1024000n],
    ["1u", -3, 1n],
  ])("%s in units of 10^%i", (text, scale, want) => expect(scaledValue(parseQuantity(text), scale)).toBe(want));

  it("rounds resource lists up to the thousandth", () => {
    expect(formatQuantity(roundUpQuantity(parseQuantity("1u"), -3))).toBe("1m");
    expect(formatQuantity(roundUpQuantity(parseQuantity("1.500"), -3))).toBe("1.500");
  });
});

const suffix = fc.constantFrom(
  "",
  "n",
  "u",
  "m",
  "k",
  "M",
  "G",
  "T",
  "P",
  "E",
  "Ki",
  "Mi",
  "Gi",
  "Ti",
  "Pi",
  "e3",
  "E-2",
  "e+1",
);
const text = fc
  .tuple(
    fc.constantFrom("", "-"),
    fc.bigInt({ min: 0n, max: 10n ** 20n }),
    fc.option(fc.bigInt({ min: 0n, max: 10n ** 12n })),
    suffix,
  )
  .map(([sign, whole, fraction, unit]) => `${sign}${whole}${fraction === null ? "" : `.${fraction}`}${unit}`);

describe("quantities always", () => {
  it("mean the same when they are written and read again", () => {
    fc.assert(
      fc.property(text, (given) => {
        const first = parseQuantity(given);
        const written = formatQuantity(first);
        expect(compareQuantities(parseQuantity(written), first)).toBe(0);
        expect(canonicalQuantity(given)).toBe(written);
      }),
    );
  });

  it("add up in any order, and nothing is left of x - x", () => {
    fc.assert(
      fc.property(text, text, text, (a, b, c) => {
        const [x, y, z] = [parseQuantity(a), parseQuantity(b), parseQuantity(c)];
        expect(compareQuantities(addQuantities(x, y), addQuantities(y, x))).toBe(0);
        expect(compareQuantities(addQuantities(addQuantities(x, y), z), addQuantities(x, addQuantities(y, z)))).toBe(0);
        expect(addQuantities(x, negateQuantity(x)).unscaled).toBe(0n);
        expect(compareQuantities(subtractQuantities(addQuantities(x, y), y), x)).toBe(0);
      }),
    );
  });

  it("are ordered", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [x, y] = [parseQuantity(a), parseQuantity(b)];
        expect(compareQuantities(x, y) + compareQuantities(y, x)).toBe(0);
        expect(compareQuantities(addQuantities(x, quantityOf(1)), x)).toBe(1);
      }),
    );
  });

  it("of a million digits take no longer than reading them", () => {
    expect(canonicalQuantity(`1${"0".repeat(1_000_000)}`)).toBe("10e999999");
  });
});
