import { describe, expect, it } from "vitest";
import { settled } from "#base";
import { type Dispatcher, EventLoopBudget } from "./event-loop-budget.ts";

/** EventLoopBudget that come when they are told to. */
function turns(seatsPerTurn: number) {
  const arranged: (() => void)[] = [];
  const made = new EventLoopBudget(seatsPerTurn, () => new Promise((resolve) => void arranged.push(resolve)));
  return {
    turns: made,
    arranged,
    next: async () => {
      arranged.shift()?.();
      await settled();
    },
  };
}

/** So many requests of one seat wait at it. */
function level(waiting: number, limit = 10): Dispatcher & { started: number } {
  const made = {
    limit,
    started: 0,
    dispatch: () => {
      if (made.started === waiting) return 0;
      made.started++;
      return 1;
    },
  };
  return made;
}

describe("turns", () => {
  it.each([
    { seats: 1, taken: 1, arranged: 1 },
    { seats: 2, taken: 1, arranged: 1 },
    { seats: 4, taken: 1, arranged: 0 },
    { seats: 4, taken: 2, arranged: 1 },
    { seats: 4, taken: 4, arranged: 1 },
  ])("of $seats seats: after $taken, $arranged are arranged", ({ seats, taken, arranged: want }) => {
    const { turns: made, arranged } = turns(seats);
    for (let i = 0; i < taken; i++) made.take(1);
    expect(arranged).toHaveLength(want);
    expect(made.hasRoom).toBe(taken < seats);
  });

  it("start no more than they have seats, and go on while somebody waits", async () => {
    const { turns: made, arranged, next } = turns(4);
    const busy = level(10);
    made.join(busy);
    const started: number[] = [];
    made.run();
    for (;;) {
      started.push(busy.started);
      if (arranged.length === 0) break;
      await next();
    }
    expect(started).toEqual([4, 8, 10, 10]);
  });

  it("may take three times as much of a flow that has been alone for a while", async () => {
    const { turns: made, next } = turns(4);
    const [one, other] = [
      { flow: {}, distinguisher: "ann" },
      { flow: {}, distinguisher: "ann" },
    ];
    const started = (flow: typeof one, nowMs: number) => {
      let count = 0;
      while (made.mayExceed(flow.flow, flow.distinguisher, nowMs) || made.hasRoom) {
        made.take(1);
        count++;
      }
      return count;
    };
    expect(started(one, 0)).toBe(4);
    await next();
    expect(started(one, 249)).toBe(4);
    await next();
    expect(started(one, 250)).toBe(12);
    await next();
    expect(started(other, 251)).toBe(4);
    await next();
    expect(started(one, 252)).toBe(4);
    await next();
    expect(started({ ...one, distinguisher: "bob" }, 1000)).toBe(4);
  });

  it("serve levels in proportion to their seats", async () => {
    const { turns: made, next } = turns(6);
    const [wide, narrow] = [level(100, 20), level(100, 10)];
    made.join(wide);
    made.join(narrow);
    made.run();
    await next();
    expect([wide.started, narrow.started]).toEqual([8, 4]);
  });
});
