import fc from "fast-check";
import { expect, it } from "vitest";
import { CelError } from "../../values/value.ts";
import { characterAt, firstIndex, join, lastIndex, replace, split, substring, tooLong, trim } from "./characters.ts";

const text = fc.string({ unit: fc.constantFrom("a", "b", "é", "😀"), maxLength: 12 });

it("counts in code points", () => {
  fc.assert(
    fc.property(text, text, fc.nat(14), (whole, part, at) => {
      const points = [...whole];
      const offset = BigInt(at);
      const one = characterAt(whole, offset);
      if (at > points.length) expect(one).toBeInstanceOf(CelError);
      else expect(one).toBe(points[at] ?? "");
      if (at <= points.length) expect(substring(whole, offset)).toBe(points.slice(at).join(""));
      if (part === "" || at >= points.length) return;
      const starts = points.flatMap((_, i) => (points.slice(i).join("").startsWith(part) ? [i] : []));
      expect(firstIndex(whole, part, offset)).toBe(BigInt(starts.find((i) => i >= at) ?? -1));
      expect(lastIndex(whole, part, offset)).toBe(BigInt(starts.findLast((i) => i <= at) ?? -1));
    }),
  );
});

it("splits into what joins again", () => {
  fc.assert(
    fc.property(text, text, fc.integer({ min: -1, max: 5 }), (whole, separator, limit) => {
      const pieces = split(whole, separator, BigInt(limit));
      expect(join(pieces, separator)).toBe(limit === 0 ? "" : whole);
      if (limit >= 0) expect(pieces.length).toBeLessThanOrEqual(limit);
      if (limit < 0 && separator !== "") expect(pieces).toEqual(whole.split(separator));
    }),
  );
});

it("refuses to build what no request could hold", () => {
  const big = "x".repeat(1_000_000);
  expect(replace(big, "", big, -1n)).toBe(tooLong);
  expect(replace(big, "x", big, -1n)).toBe(tooLong);
  expect(join(Array<string>(100).fill(big), "")).toBe(tooLong);
});

it("takes linear time", () => {
  const spaces = `${" ".repeat(2_000_000)}x`;
  expect(trim(spaces + spaces)).toBe(`x${spaces}`);
  const text = "a".repeat(1_000_000);
  const needle = `${"a".repeat(100_000)}b`;
  expect(split(text, needle, -1n)).toEqual([text]);
  expect(replace(text, needle, "", -1n)).toBe(text);
});
