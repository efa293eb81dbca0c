/** Which revision was when. */
import { describe, expect, it } from "vitest";
import { Timeline } from "./timeline.ts";

function timeline(...marks: readonly [number, number][]): Timeline {
  const line = new Timeline(1000);
  for (const [revision, atMs] of marks) line.note(revision, atMs);
  return line;
}

describe("a timeline", () => {
  const line = timeline([10, 100], [12, 200], [15, 300]);
  it.each([
    [99, undefined],
    [100, 10],
    [199, 10],
    [200, 12],
    [250, 12],
    [9999, 15],
  ])("at %i has the revision %s", (atMs, want) => {
    expect(line.at(atMs)?.revision).toBe(want);
  });

  it.each([
    [5, 100],
    [10, 100],
    [11, 200],
    [12, 200],
    [13, 300],
    [16, undefined],
  ])("got to revision %i at %s", (revision, want) => {
    expect(line.of(revision)?.atMs).toBe(want);
  });

  it("forgets what is older than its window, and keeps the state at its beginning", () => {
    const later = timeline([1, 0], [2, 500], [3, 1200], [4, 1600]);
    expect(later.oldest).toEqual({ revision: 2, atMs: 500 });
    expect(later.at(700)?.revision).toBe(2);
    expect(later.at(100)).toBeUndefined();
  });

  it("never holds more than one mark in a moment, however much is written", () => {
    const line = new Timeline(60_000);
    for (let at = 0; at < 100_000; at++) line.note(at + 1, at / 100);
    expect(line.at(505)?.revision).toBeGreaterThan(49_000);
    expect(line.at(505)?.revision).toBeLessThanOrEqual(50_501);
    expect(line.newest?.revision).toBe(100_000);
  });

  it("is in order though the clock is set back", () => {
    const line = timeline([1, 100], [2, 50], [3, 160]);
    expect(line.at(100)?.revision).toBe(2);
    expect(line.at(160)?.revision).toBe(3);
  });
});
