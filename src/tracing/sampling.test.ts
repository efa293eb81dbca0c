import { describe, expect, it } from "vitest";
import { seededRandom } from "#base";
import { Ids } from "./ids.ts";
import { ratioSampler } from "./sampling.ts";

const ended = (end: string) => `${"f".repeat(16)}${end}`;

describe("the share of traces that are sampled", () => {
  it.each([
    { name: "none", rate: 0, id: ended("0000000000000001"), want: false },
    { name: "all", rate: 1_000_000, id: ended("ffffffffffffffff"), want: true },
    { name: "half, below the bound", rate: 500_000, id: ended("7fffffffffffffff"), want: true },
    { name: "half, at the bound", rate: 500_000, id: ended("8000000000000000"), want: false },
  ])("$name", ({ rate, id, want }) => {
    expect(ratioSampler(rate)(id)).toBe(want);
  });

  it("is about what was asked for, of random ids", () => {
    const ids = new Ids(seededRandom(3));
    const sampler = ratioSampler(100_000);
    const sampled = Array.from({ length: 20_000 }, () => ids.trace()).filter(sampler).length;
    expect(sampled / 20_000).toBeGreaterThan(0.09);
    expect(sampled / 20_000).toBeLessThan(0.11);
  });
});
