import { describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { Deadlines } from "./deadlines.ts";

describe("deadlines", () => {
  it("come in time, each once, and not for who was done before", async () => {
    const clock = new VirtualClock();
    const deadlines = new Deadlines(clock);
    const late: string[] = [];
    const start = (name: string, ms: number) => deadlines.start(ms, () => late.push(name));
    start("a", 100);
    const doneB = start("b", 100);
    start("other", 50);
    await clock.advance(40);
    start("c", 100);
    doneB();
    await clock.advance(10);
    expect(late).toEqual(["other"]);
    await clock.advance(50);
    expect(late).toEqual(["other", "a"]);
    await clock.advance(39);
    expect(late).toEqual(["other", "a"]);
    await clock.advance(1);
    expect(late).toEqual(["other", "a", "c"]);
    const doneD = start("d", 100);
    doneD();
    doneD();
    start("e", 100);
    await clock.advance(100);
    expect(late).toEqual(["other", "a", "c", "e"]);
  });

  it("let others begin while they come", async () => {
    const clock = new VirtualClock();
    const deadlines = new Deadlines(clock);
    const late: number[] = [];
    deadlines.start(10, () => {
      late.push(1);
      deadlines.start(10, () => late.push(2));
    });
    await clock.advance(10);
    expect(late).toEqual([1]);
    await clock.advance(10);
    expect(late).toEqual([1, 2]);
  });
});
