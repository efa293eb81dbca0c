import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NO_DEMAND } from "./demand.ts";
import { priorityLevels } from "./objects/default-objects.ts";
import { allocate, type Borrower, borrow, seatLimits } from "./seat-shares.ts";

describe("limits by shares", () => {
  const shares = new Map(
    [...priorityLevels].map(([name, { limited, exempt }]) => {
      const { nominalConcurrencyShares = 0, lendablePercent = 0 } = limited ?? exempt ?? {};
      return [name, { shares: nominalConcurrencyShares, lendablePercent, borrowingLimitPercent: undefined }];
    }),
  );

  it("of a fresh cluster with 600 seats", () => {
    const limits = seatLimits(shares, 600);
    expect(
      Object.fromEntries([...limits].map(([name, { nominal, least, most }]) => [name, [nominal, least, most]])),
    ).toEqual({
      exempt: [0, 0, 600],
      "catch-all": [13, 13, 613],
      "global-default": [49, 24, 649],
      "leader-election": [25, 25, 625],
      "node-high": [98, 73, 698],
      system: [74, 50, 674],
      "workload-high": [98, 49, 698],
      "workload-low": [245, 24, 845],
    });
  });

  it("may say how much is borrowed", () => {
    const one = new Map([["a", { shares: 1, lendablePercent: 30, borrowingLimitPercent: 50 }]]);
    expect(seatLimits(one, 10).get("a")).toEqual({ nominal: 10, least: 7, most: 15 });
  });
});

describe("borrowing", () => {
  const level = (
    nominal: number,
    least: number,
    most: number,
    highest = 0,
    smoothed = 0,
    exempt = false,
  ): Borrower => ({
    exempt,
    limits: { nominal, least, most },
    demand: { ...NO_DEMAND, highest, smoothed },
    current: nominal,
  });
  const cases: { name: string; given: Record<string, Borrower>; want: Record<string, number> }[] = [
    {
      name: "idle levels have what their least is to the others'",
      given: { a: level(50, 25, 150), b: level(50, 50, 150) },
      want: { a: 33, b: 67 },
    },
    {
      name: "who needs more gets what others lend",
      given: { busy: level(50, 50, 150, 80, 80), idle: level(50, 10, 150) },
      want: { busy: 89, idle: 11 },
    },
    {
      name: "who needs its own has them back",
      given: { busy: level(50, 50, 150, 80, 80), back: level(50, 10, 150, 50, 50) },
      want: { busy: 50, back: 50 },
    },
    {
      name: "nobody gets more than it may borrow",
      given: { busy: level(50, 50, 60, 90, 90), idle: level(50, 10, 150) },
      want: { busy: 60, idle: 40 },
    },
    {
      name: "what exempt requests use is taken off those that lend",
      given: { exempt: level(0, 0, 100, 60, 60, true), a: level(60, 10, 160, 60, 60), b: level(40, 10, 140, 40, 40) },
      want: { exempt: 60, a: 23, b: 18 },
    },
    {
      name: "but never more than they lend",
      given: { exempt: level(0, 0, 100, 200, 200, true), a: level(60, 10, 160, 60), b: level(40, 20, 140, 40) },
      want: { exempt: 200, a: 10, b: 20 },
    },
  ];
  it.each(cases)("$name", ({ given, want }) => {
    const { levels } = borrow(new Map(Object.entries(given)));
    expect(Object.fromEntries([...levels].map(([name, { current }]) => [name, current]))).toEqual(want);
  });
});

describe("allocation", () => {
  const klass = fc
    .record({
      lower: fc.integer({ min: 0, max: 50 }),
      more: fc.integer({ min: 0, max: 50 }),
      want: fc.integer({ min: 0, max: 80 }),
    })
    .map(({ lower, more, want }) => ({ lower, upper: lower + more, target: lower + want }));

  it("adds up, keeps the bounds, and treats alike whom no bound holds", () => {
    fc.assert(
      fc.property(
        fc.array(klass, { minLength: 1, maxLength: 8 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (classes, at) => {
          const lowest = classes.reduce((sum, { lower }) => sum + lower, 0);
          const highest = classes.reduce((sum, { upper }) => sum + upper, 0);
          const sum = lowest + Math.round((highest - lowest) * at);
          const found = allocate(sum, classes);
          if (found === undefined) throw new Error("there is a solution");
          expect(found.amounts.reduce((total, amount) => total + amount, 0)).toBeCloseTo(sum, 3);
          for (const [i, { lower, upper, target }] of classes.entries()) {
            const amount = found.amounts[i] ?? Number.NaN;
            expect(amount >= lower && amount <= upper).toBe(true);
            if (amount > lower + 0.01 && amount < upper - 0.01)
              expect(amount).toBeCloseTo(found.fraction * Math.max(target, 0.001), 3);
          }
        },
      ),
    );
  });

  it.each([
    { name: "too little for the bounds", sum: 5, classes: [{ lower: 6, upper: 10, target: 6 }] },
    { name: "too much for them", sum: 11, classes: [{ lower: 6, upper: 10, target: 6 }] },
  ])("there is none: $name", ({ sum, classes }) => expect(allocate(sum, classes)).toBeUndefined());
});
