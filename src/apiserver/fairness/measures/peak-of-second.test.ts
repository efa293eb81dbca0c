import { describe, expect, it } from "vitest";
import { PeakOfSecond } from "./peak-of-second.ts";

describe("the peak of a second", () => {
  it("is the highest value of the last whole second", () => {
    const peak = new PeakOfSecond();
    peak.add(2, 100);
    peak.add(3, 200);
    peak.add(-4, 300);
    expect(peak.at(900)).toBe(0);
    expect(peak.at(1_000)).toBe(5);
    expect(peak.at(1_999)).toBe(5);
  });

  it("is the value that lasted, where nothing changed for longer", () => {
    const peak = new PeakOfSecond();
    peak.add(7, 100);
    peak.add(-5, 200);
    expect(peak.at(1_500)).toBe(7);
    expect(peak.at(2_500)).toBe(2);
    peak.add(1, 8_000);
    expect(peak.at(8_900)).toBe(2);
    expect(peak.at(9_000)).toBe(3);
  });
});
