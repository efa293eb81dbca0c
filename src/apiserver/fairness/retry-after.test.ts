import { describe, expect, it } from "vitest";
import { RetryAfter } from "./retry-after.ts";

describe("how long to stay away", () => {
  /** Refused in each second, and what the last one is told. */
  it.each<[string, readonly number[], number]>([
    ["few are refused", [1, 1, 1], 1],
    ["many are", [5, 1], 2],
    ["and go on to be", [5, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9], 16],
    ["at most half a minute and a little", Array<number>(120).fill(200), 32],
    ["a spike is forgotten", [50, 1, 0, 0, 0, 1], 1],
  ])("%s", (_, perSecond, want) => {
    const retry = new RetryAfter();
    let told = 0;
    for (const [second, count] of perSecond.entries()) {
      for (let i = 0; i < count; i++) told = retry.refused((1000 + second) * 1000);
    }
    expect(told).toBe(want);
  });
});
