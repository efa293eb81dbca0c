import { describe, expect, it } from "vitest";
import { Demand, NO_DEMAND } from "./demand.ts";

describe("demand over time", () => {
  it("is weighted by time", () => {
    const demand = new Demand(0);
    demand.set(10, 0);
    demand.set(2, 250);
    const stats = demand.next(NO_DEMAND, 1000);
    expect(stats.average).toBe(4);
    expect(stats.deviation).toBeCloseTo(Math.sqrt(12));
    expect(stats.highest).toBe(10);
    expect(stats.smoothed).toBeCloseTo(4 + Math.sqrt(12));
  });

  it("is forgotten slowly: half of it in five minutes", () => {
    const demand = new Demand(0);
    demand.set(100, 0);
    let stats = demand.next(NO_DEMAND, 10_000);
    demand.set(0, 10_000);
    for (let period = 2; period <= 31; period++) stats = demand.next(stats, period * 10_000);
    expect(stats.smoothed).toBeGreaterThan(45);
    expect(stats.smoothed).toBeLessThan(55);
    expect(stats.highest).toBe(0);
  });

  it("knows nothing of a period without time, but its highest", () => {
    const demand = new Demand(0);
    demand.set(3, 0);
    expect(demand.next({ ...NO_DEMAND, smoothed: 7 }, 0)).toEqual({ ...NO_DEMAND, smoothed: 7, highest: 3 });
  });
});
