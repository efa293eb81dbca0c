import { describe, expect, it } from "vitest";
import { HashMap } from "../../values/hash-map.ts";
import { int } from "../../values/type.ts";
import { ArrayList, CelError, Duration, Timestamp, TypeValue, Uint, type Value } from "../../values/value.ts";
import { QuantityValue } from "../quantity.ts";
import { format } from "./string-format.ts";

function formatted(template: string, ...args: readonly Value[]): string {
  const result = format(template, new ArrayList(args));
  return result instanceof CelError ? `error: ${result.message}` : result;
}

const bytes = new TextEncoder().encode("ab");
const aSecond = new Duration(6_347_000_000_000n);
const aTime = new Timestamp(1_675_467_080_000_000_000n);
const nested = new ArrayList([
  1n,
  new Uint(2n),
  3.5,
  "a\n",
  bytes,
  true,
  null,
  aSecond,
  aTime,
  new TypeValue(int),
  HashMap.of([
    ["b", 1n],
    ["a", new ArrayList([Number.POSITIVE_INFINITY, Number.NaN])],
  ]),
]);

describe("clauses", () => {
  it.each<[string, readonly Value[], string]>([
    ["no clause, 100%%", [], "no clause, 100%"],
    ["%s and %s", ["a", 1n], "a and 1"],
    ["%s", [new Uint(7n)], "7"],
    ["%s", [64.2], "64.2"],
    ["%s", [1e6], "1e+06"],
    ["%s", [true], "true"],
    ["%s", [null], "null"],
    ["%s", [bytes], "ab"],
    ["%s", [aSecond], "6347s"],
    ["%s", [aTime], "2023-02-03T23:31:20Z"],
    ["%s", [new TypeValue(int)], "int"],
    [
      "%s",
      [nested],
      '[1, 2, 3.500000, "a\\n", b"ab", true, null, duration("6347s"), timestamp("2023-02-03T23:31:20Z"), int, {"a":["+Inf", "NaN"], "b":1}]',
    ],
    ["%d %d", [-5n, new Uint(5n)], "-5 5"],
    ["%f", [3.25], "3.250000"],
    ["%.1f", [12345.678], "12,345.7"],
    ["%.0f", [2.5], "2"],
    ["%f %f", ["NaN", "-Infinity"], "NaN -∞"],
    ["%e", [2.72], "2.720000×10⁰⁰"],
    ["%.20e|", [2.72], "       2.720000×10⁰⁰|"],
    ["%b %b %b", [5n, -5n, true], "101 -101 1"],
    ["%o", [30n], "36"],
    ["%x %X", [26n, new Uint(26n)], "1a 1A"],
    ["%x %X", ["hé", bytes], "68c3a9 6162"],
  ])("%s", (template, args, want) => {
    expect(formatted(template, ...args)).toBe(want);
  });
});

describe("faults", () => {
  it.each<[string, readonly Value[], string]>([
    ["%d", ["a"], "error during formatting: decimal clause can only be used on integers, was given string"],
    ["%f", [1n], "error during formatting: fixed-point clause can only be used on doubles, was given int"],
    ["%e", ["x"], "error during formatting: scientific clause can only be used on doubles, was given string"],
    ["%b", [1.5], "error during formatting: only integers and bools can be formatted as binary, was given double"],
    ["%o", [true], "error during formatting: octal clause can only be used on integers, was given bool"],
    [
      "%x",
      [true],
      "error during formatting: only integers, byte buffers, and strings can be formatted as hex, was given bool",
    ],
    [
      "%s",
      [new QuantityValue({ unscaled: 1n, scale: 0, format: "DecimalSI" }, true)],
      "error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given kubernetes.Quantity",
    ],
    ["%s %s", ["a"], "index 1 out of range"],
    ["%", ["a"], "unexpected end of string"],
    ["%", [], "index 0 out of range"],
    ["%q", ["a"], 'could not parse formatting clause: unrecognized formatting clause "q"'],
    [
      "%.f",
      [1.5],
      'could not parse formatting clause: error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax',
    ],
    [
      "%.12",
      [1.5],
      "could not parse formatting clause: error while parsing precision: could not find end of precision specifier",
    ],
  ])("%s", (template, args, why) => {
    expect(formatted(template, ...args)).toBe(`error: ${why}`);
  });
});

it("refuses to build what no request could hold", () => {
  const args = Array<Value>(100).fill("x".repeat(1_000_000));
  expect(formatted("%s".repeat(100), ...args)).toBe("error: result is too large");
  expect(formatted("%.999999999f", 1)).toContain("value out of range");
});
