import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "./virtual-clock.ts";

describe("VirtualClock", () => {
  const orders: { name: string; delays: number[]; advance: number; want: number[] }[] = [
    { name: "by due time", delays: [30, 10, 20], advance: 30, want: [1, 2, 0] },
    { name: "by creation when due together", delays: [5, 5, 5], advance: 5, want: [0, 1, 2] },
    { name: "only what is due", delays: [10, 11], advance: 10, want: [0] },
    { name: "nothing before its time", delays: [10], advance: 9.9, want: [] },
    { name: "delays in the past are due now", delays: [1, -5], advance: 0, want: [1] },
    { name: "never for an infinite delay", delays: [Infinity, 1], advance: 1e15, want: [1] },
  ];
  it.each(orders)("fires $name", async ({ delays, advance, want }) => {
    const clock = new VirtualClock();
    const fired: number[] = [];
    delays.forEach((ms, i) => void clock.timer(ms, () => fired.push(i)));
    await clock.advance(advance);
    expect(fired).toEqual(want);
    expect(clock.pending).toBe(delays.length - want.length);
  });

  it("moves now and monotonic together, and jump moves wall time alone", async () => {
    const clock = new VirtualClock(1_000);
    let fired = false;
    clock.timer(50, () => {
      fired = true;
    });
    await clock.advance(7);
    expect([clock.now(), clock.monotonic()]).toEqual([1_007, 7]);
    clock.jump(100);
    clock.jump(-500);
    expect([clock.now(), clock.monotonic(), fired]).toEqual([607, 7, false]);
    await clock.advance(43);
    expect([clock.now(), fired]).toEqual([650, true]);
  });

  it("lets woken code schedule its next wait before time goes on", async () => {
    const clock = new VirtualClock(0);
    const seen: string[] = [];
    const tick = async (name: string, everyMs: number) => {
      for (let i = 0; i < 3; i++) {
        await clock.sleep(everyMs);
        // Deep promise chains and turns of the event loop between one wait and the next.
        for (let hop = 0; hop < 20; hop++) await Promise.resolve();
        for (let hop = 0; hop < 20; hop++) await new Promise((resolve) => setImmediate(resolve));
        seen.push(`${name}@${clock.now()}`);
      }
    };
    const both = Promise.all([tick("a", 10), tick("b", 15)]);
    await clock.advance(1_000);
    await both;
    expect(seen).toEqual(["a@10", "b@15", "a@20", "b@30", "a@30", "b@45"]);
    expect(clock.now()).toBe(1_000);
  });

  it("does not fire a cancelled timer, also when the one before cancels it at the same instant", async () => {
    const clock = new VirtualClock();
    const fired: string[] = [];
    const early = clock.timer(5, () => fired.push("early"));
    clock.timer(10, () => void Promise.resolve().then(() => late.cancel()));
    const late = clock.timer(10, () => fired.push("late"));
    early.cancel();
    early.cancel();
    await clock.advance(100);
    expect(fired).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("sleep rejects with the signal's reason and leaves nothing scheduled", async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const sleeping = expect(clock.sleep(10, controller.signal)).rejects.toThrow("enough");
    controller.abort(new Error("enough"));
    await sleeping;
    await expect(clock.sleep(10, controller.signal)).rejects.toThrow("enough");
    expect(clock.pending).toBe(0);
  });

  it("refuses to move twice at once, to move back, and a NaN delay", async () => {
    const clock = new VirtualClock();
    const first = clock.advance(10);
    await expect(clock.advance(1)).rejects.toThrow("already moving");
    await first;
    await expect(clock.advance(-1)).rejects.toThrow(RangeError);
    expect(() => clock.timer(Number.NaN, () => {})).toThrow(RangeError);
    expect(clock.monotonic()).toBe(10);
  });

  it("hands an error of a timer to whoever moves time, and goes on afterwards", async () => {
    const clock = new VirtualClock();
    clock.timer(1, () => {
      throw new Error("broken timer");
    });
    const next = clock.sleep(2);
    await expect(clock.advance(5)).rejects.toThrow("broken timer");
    expect(clock.monotonic()).toBe(1);
    await clock.advance(4);
    await next;
  });

  describe("runUntilIdle", () => {
    it("jumps until nothing is scheduled, and no further", async () => {
      const clock = new VirtualClock();
      const work = (async () => {
        for (let day = 0; day < 30; day++) await clock.sleep(86_400_000);
      })();
      await clock.runUntilIdle();
      await work;
      expect(clock.monotonic()).toBe(30 * 86_400_000);
    });

    const endless = [
      { name: "maxMs", limits: { maxMs: 95 }, wantMs: 90 },
      { name: "maxTimers", limits: { maxTimers: 4 }, wantMs: 40 },
    ];
    it.each(endless)("stops at $name, saying what is still scheduled", async ({ limits, wantMs }) => {
      const clock = new VirtualClock();
      const again = () => void clock.timer(10, again);
      again();
      await expect(clock.runUntilIdle(limits)).rejects.toThrow(
        `1 timer(s) still scheduled after ${wantMs} ms: in 10 ms`,
      );
    });

    it("does not jump to the end of time", async () => {
      const clock = new VirtualClock();
      clock.timer(Infinity, () => {});
      await expect(clock.runUntilIdle()).rejects.toThrow("in Infinity ms");
      expect(clock.monotonic()).toBe(0);
    });
  });

  it("fires the same timers in the same order however the time is cut (property)", async () => {
    const delay = fc.nat(50);
    const plan = fc.array(fc.record({ delay, follow: fc.array(delay, { maxLength: 3 }), cancel: fc.boolean() }));
    await fc.assert(
      fc.asyncProperty(plan, fc.array(fc.nat(40)), async (timers, cuts) => {
        const run = async (steps: number[]) => {
          const clock = new VirtualClock(0);
          const fired: string[] = [];
          timers.forEach(({ delay, follow, cancel }, i) => {
            const timer = clock.timer(delay, () => {
              fired.push(`${i}@${clock.now()}`);
              // The follow-up is scheduled by woken code, not by the timer itself.
              void Promise.resolve().then(() => {
                for (const ms of follow) {
                  const due = clock.now() + ms;
                  clock.timer(ms, () => fired.push(`${i}+${ms}@${clock.now()}${clock.now() === due ? "" : " wrong"}`));
                }
              });
            });
            if (cancel) timer.cancel();
          });
          for (const ms of steps) await clock.advance(ms);
          await clock.runUntilIdle();
          return fired;
        };
        const whole = await run([10_000]);
        expect(await run(cuts)).toEqual(whole);
        const times = whole.map((entry) => Number(entry.split("@")[1]));
        expect(times).toEqual([...times].sort((a, b) => a - b));
        const expected = timers.filter((t) => !t.cancel).reduce((sum, t) => sum + 1 + t.follow.length, 0);
        expect(whole).toHaveLength(expected);
      }),
      { numRuns: 60 },
    );
  });
});
