import { describe, expect, it } from "vitest";
import { shareOfLimits } from "./thread-share.ts";

describe("a thread's part of the limits", () => {
  it.each([
    { limits: undefined, count: 1, want: undefined },
    { limits: undefined, count: undefined, want: undefined },
    { limits: undefined, count: 4, want: { reading: 100, mutating: 50 } },
    { limits: { reading: 10, mutating: 1, fair: false }, count: 3, want: { reading: 4, mutating: 1, fair: false } },
    { limits: { reading: 0, mutating: 0 }, count: 2, want: { reading: 0, mutating: 0 } },
  ])("$limits among $count", ({ limits, count, want }) => {
    expect(shareOfLimits(limits, count)).toEqual(want);
  });
});
