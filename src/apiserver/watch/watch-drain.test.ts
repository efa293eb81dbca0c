import { describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { WatchDrain } from "./watch-drain.ts";

function start(watches: number) {
  const clock = new VirtualClock();
  const drain = new WatchDrain();
  const endedAt: number[] = [];
  const open = () => drain.add(() => endedAt.push(clock.monotonic()));
  const closed = Array.from({ length: watches }, open);
  return { clock, drain, endedAt, open, closed };
}

describe("watches of a server that shuts down", () => {
  it("end evenly within the time, and later ones at once", async () => {
    const { clock, drain, endedAt, open } = start(50);
    const drained = drain.drain(1_000, clock);
    await clock.advance(500);
    expect(endedAt.length).toBeGreaterThanOrEqual(25);
    expect(endedAt.length).toBeLessThanOrEqual(30);
    await clock.advance(500);
    await drained;
    expect(endedAt).toHaveLength(50);
    expect(Math.max(...endedAt)).toBeLessThan(1_000);
    open();
    expect([endedAt.length, clock.pending]).toEqual([51, 0]);
  });

  it("that end by themselves are not awaited", async () => {
    const { clock, drain, endedAt, closed } = start(2);
    for (const close of closed) close();
    await drain.drain(1_000, clock);
    expect(endedAt).toEqual([]);
  });

  it("end at once without a time", async () => {
    const { clock, drain, endedAt } = start(3);
    await drain.drain(0, clock);
    expect(endedAt).toEqual([0, 0, 0]);
  });
});
