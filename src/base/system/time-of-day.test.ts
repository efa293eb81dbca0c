import { describe, expect, it } from "vitest";
import type { Clock } from "./clock.ts";
import { timeOfDay } from "./time-of-day.ts";

describe("the time of day", () => {
  it.each([
    { name: "at once", at: 5, day: 1_005, want: 1_005 },
    { name: "as it was, while nobody looks at the clock again", at: 900, day: 5_000, want: 1_900 },
    { name: "at a time before", at: 2, day: 1_002, want: 1_002 },
    { name: "as it was set, a second later", at: 1_100, day: 5_000, want: 5_000 },
  ])("$name", ({ at, day, want }) => {
    let now = 1_005;
    const timeOf = timeOfDay({ now: () => now } as Clock);
    expect(timeOf(5)).toBe(1_005);
    now = day;
    expect(timeOf(at)).toBe(want);
  });
});
