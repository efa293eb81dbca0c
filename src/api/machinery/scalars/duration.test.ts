import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { durationMs, formatDuration, parseDuration } from "./duration.ts";

describe("durations", () => {
  it.each([
    ["0", "0s"],
    ["0s", "0s"],
    ["1h30m", "1h30m0s"],
    ["90m", "1h30m0s"],
    ["1.5s", "1.5s"],
    ["-2ms", "-2ms"],
    ["1500us", "1.5ms"],
    ["100µs", "100µs"],
    ["7ns", "7ns"],
    ["+5s", "5s"],
    [".5h", "30m0s"],
    ["1m30.25s", "1m30.25s"],
    ["2562047h47m16.854775807s", "2562047h47m16.854775807s"],
    ["-2562047h47m16.854775808s", "-2562047h47m16.854775808s"],
  ])("writes %s back as %s", (text, want) => expect(formatDuration(parseDuration(text))).toBe(want));

  it.each([
    ["", 'time: invalid duration ""'],
    ["3", 'time: missing unit in duration "3"'],
    ["3d", 'time: unknown unit "d" in duration "3d"'],
    [".s", 'time: invalid duration ".s"'],
    ["s", 'time: invalid duration "s"'],
    ["3000000h", 'time: invalid duration "3000000h"'],
    ["-", 'time: invalid duration "-"'],
  ])("refuses %j", (text, message) => expect(() => parseDuration(text)).toThrow(message));

  it("counts milliseconds", () => expect(durationMs("1m0.5s")).toBe(60_500));

  it("mean the same when they are written and read again", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (nanoseconds) => {
        expect(parseDuration(formatDuration(nanoseconds))).toBe(nanoseconds);
      }),
    );
  });

  it("counts the digits of a fraction that matter", () => {
    expect(parseDuration(`1.${"3".repeat(1_000_000)}s`)).toBe(1_333_333_333n);
  });
});
