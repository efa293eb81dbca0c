import { describe, expect, it } from "vitest";
import { realClock } from "./real-clock.ts";

const activeTimers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

describe("realClock", () => {
  const clock = realClock();

  it("never wakes early", async () => {
    for (const ms of [0, 0.3, 1, 5]) {
      const before = clock.monotonic();
      await clock.sleep(ms);
      expect(clock.monotonic() - before).toBeGreaterThanOrEqual(ms);
    }
  });

  it("tells the time", () => {
    const before = Date.now();
    const now = clock.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });

  it.each([2 ** 31, Infinity])("does not take a delay of %d ms for a short one", async (ms) => {
    let fired = false;
    const timer = clock.timer(ms, () => {
      fired = true;
    });
    await clock.sleep(10);
    timer.cancel();
    expect(fired).toBe(false);
  });

  it("leaves nothing scheduled after cancel, abort or firing", async () => {
    const before = activeTimers();
    const controller = new AbortController();
    clock.timer(60_000, () => {}).cancel();
    const sleeping = expect(clock.sleep(60_000, controller.signal)).rejects.toThrow("stop");
    expect(activeTimers()).toBe(before + 1);
    controller.abort(new Error("stop"));
    await sleeping;
    await clock.sleep(1, new AbortController().signal);
    expect(activeTimers()).toBe(before);
  });

  it("refuses NaN", () => {
    expect(() => clock.timer(Number.NaN, () => {})).toThrow(RangeError);
  });
});
