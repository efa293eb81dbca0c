import { describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { type PullLimits, pullQueue } from "./pull-queue.ts";

const LIMITS: PullLimits = { serialize: true, qps: 0, burst: 0 };
const { signal } = new AbortController();

describe("a queue of pulls", () => {
  it.each<[string, Partial<PullLimits>, number]>([
    ["one after another", {}, 1],
    ["two at a time", { serialize: false, maxParallel: 2 }, 2],
    ["any number", { serialize: false }, 5],
  ])("%s", async (_, limits, want) => {
    const queue = pullQueue({ ...LIMITS, ...limits }, new VirtualClock());
    const order: number[] = [];
    let running = 0;
    let most = 0;
    const pull = (number: number) => async () => {
      order.push(number);
      most = Math.max(most, ++running);
      for (let turn = 0; turn < 10; turn++) await undefined;
      running--;
    };
    await Promise.all([0, 1, 2, 3, 4].map((number) => queue.run(pull(number), signal)));
    expect([most, order]).toEqual([want, [0, 1, 2, 3, 4]]);
  });

  it("one that gives up leaves its place to the next", async () => {
    const queue = pullQueue(LIMITS, new VirtualClock());
    const [first, leaving] = [Promise.withResolvers<void>(), new AbortController()];
    const one = queue.run(() => first.promise, signal);
    const two = queue.run(async () => "two", leaving.signal);
    const three = queue.run(async () => "three", signal);
    leaving.abort();
    await expect(two).rejects.toThrow();
    first.resolve();
    await one;
    expect(await three).toBe("three");
  });

  it("too many in a second fail at once; a failed pull gives its place back", async () => {
    const clock = new VirtualClock();
    const queue = pullQueue({ ...LIMITS, qps: 1, burst: 2 }, clock);
    const pull = () => queue.run(async () => "pulled", signal);
    expect([await pull(), await pull()]).toEqual(["pulled", "pulled"]);
    await expect(pull()).rejects.toThrow("pull QPS exceeded");
    await clock.advance(1000);
    expect(await pull()).toBe("pulled");
  });
});
