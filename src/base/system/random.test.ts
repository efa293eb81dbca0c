import { describe, expect, it } from "vitest";
import { readableAlphabet, seededRandom, systemRandom } from "./random.ts";

const sources = [
  { name: "systemRandom", make: () => systemRandom() },
  { name: "seededRandom", make: () => seededRandom(42) },
];

describe.each(sources)("$name", ({ make }) => {
  it("spreads evenly over the unit interval", () => {
    const random = make();
    const counts = new Array<number>(16).fill(0);
    const draws = 64_000;
    for (let i = 0; i < draws; i++) {
      const x = random.next();
      const bin = Math.floor(x * 16);
      counts[bin] = (counts[bin] ?? 0) + 1;
    }
    expect(counts).toHaveLength(16);
    // Chi-squared with 15 degrees of freedom exceeds 70 about once in 10^8 runs.
    const expected = draws / 16;
    expect(counts.reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0)).toBeLessThan(70);
  });

  it("integers, picks, bytes and strings stay in range and reach every value", () => {
    const random = make();
    const seen = { integer: new Set<number>(), pick: new Set<string>(), byte: new Set<number>() };
    for (let i = 0; i < 400; i++) {
      seen.integer.add(random.integer(5));
      seen.pick.add(random.pick(["a", "b", "c"]));
    }
    for (const byte of random.bytes(8_192)) seen.byte.add(byte);
    expect([...seen.integer].sort()).toEqual([0, 1, 2, 3, 4]);
    expect([...seen.pick].sort()).toEqual(["a", "b", "c"]);
    expect(seen.byte.size).toBe(256);
    expect(new Set(random.string(2_000))).toEqual(new Set(readableAlphabet));
    expect(random.string(12, "xy")).toMatch(/^[xy]{12}$/);
    expect([random.string(0), random.bytes(0).length, random.integer(1)]).toEqual(["", 0, 0]);
  });

  it.each([0, -1, 1.5, Number.NaN, Infinity])("refuses an integer below %d", (below) => {
    expect(() => make().integer(below)).toThrow(RangeError);
  });

  it("refuses to pick from nothing", () => {
    expect(() => make().pick([])).toThrow(RangeError);
  });
});

describe("seededRandom", () => {
  it("repeats itself for the same seed only", () => {
    const first = (seed: number) => seededRandom(seed).string(32);
    expect(first(7)).toBe(first(7));
    const seeds = [0, 1, 2, 3, -1, 0.5, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1];
    expect(new Set(seeds.map(first)).size).toBe(seeds.length);
  });
});
