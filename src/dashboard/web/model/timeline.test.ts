import { describe, expect, it } from "vitest";
import { appeared, timeline } from "./timeline.ts";

describe("the time of a replay", () => {
  const line = timeline([1000, 1000, 1100, 61_100, 61_090].map((at) => ({ at })));

  it("is as it was, without long waits and with a moment between what was at once", () => {
    expect(line).toEqual({ at: [0, 30, 130, 730, 760], total: 760 });
  });

  it.each([
    [-1, 0],
    [0, 1],
    [29, 1],
    [30, 2],
    [500, 3],
    [760, 5],
    [9999, 5],
  ])("at %d has %d lines", (position, count) => {
    expect(appeared(line, position)).toBe(count);
  });

  it("of nothing has no length", () => {
    expect(timeline([])).toEqual({ at: [], total: 0 });
    expect(appeared(timeline([]), 10)).toBe(0);
  });
});
