import { describe, expect, it } from "vitest";
import { Demand, NO_DEMAND } from "./demand.ts";

describe("demand over time", () => {
  it("is weighted by time", () => {
    const demand = new Demand();
    demand.reach(10);
    demand.spend(10, 250);
    demand.reach(2);
    demand.spend(2, 750);
    const stats = demand.next(NO_DEMAND, 2);
    expect(stats.average).toBe(4);
    expect(stats.deviation).toBeCloseTo(Math.sqrt(12));
    expect(stats.highest).toBe(10);
    expect(stats.smoothed).toBeCloseTo(4 + Math.sqrt(12));
  });

  it("is forgotten slowly: half of it in five minutes", () => {
    const demand = new Demand();
    demand.reach(100);
    demand.spend(100, 10_000);
    let stats = demand.next(NO_DEMAND, 0);
    for (let period = 2; period <= 31; period++) {
      demand.spend(0, 10_000);
      stats = demand.next(stats, 0);
    }
    expect(stats.smoothed).toBeGreaterThan(45);
    expect(stats.smoothed).toBeLessThan(55);
    expect(stats.highest).toBe(0);
  });

  it("knows nothing of a period without time, but its highest", () => {
    const demand = new Demand();
    demand.reach(3);
    expect(demand.next({ ...NO_DEMAND, smoothed: 7 }, 3)).toEqual({ ...NO_DEMAND, smoothed: 7, highest: 3 });
  });
});
