import { describe, expect, it } from "vitest";
import { seededRandom } from "../system/random.ts";
import { VirtualClock } from "../system/virtual-clock.ts";
import { WorkQueue, type WorkQueueOptions } from "./work-queue.ts";

const signal = new AbortController().signal;

function setUp(options: Partial<WorkQueueOptions> = {}) {
  const clock = new VirtualClock();
  return { clock, queue: new WorkQueue({ clock, random: seededRandom(1), ...options }) };
}

/** Takes and gives back what is there now. */
async function drain(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = [];
  while (queue.length > 0) {
    const key = await queue.take(signal);
    if (key === undefined) break;
    keys.push(key);
    queue.done(key);
  }
  return keys;
}

describe("WorkQueue", () => {
  const orders: { name: string; adds: [key: string, priority?: number][]; want: string[] }[] = [
    { name: "in order of arrival", adds: [["b"], ["a"], ["c"]], want: ["b", "a", "c"] },
    { name: "once, however often added", adds: [["a"], ["b"], ["a"], ["a"]], want: ["a", "b"] },
    {
      name: "by priority, then arrival",
      adds: [["low", -1], ["a"], ["hi", 9], ["b"], ["hi2", 9]],
      want: ["hi", "hi2", "a", "b", "low"],
    },
    { name: "earlier once its priority is raised", adds: [["a"], ["b"], ["c"], ["c", 1]], want: ["c", "a", "b"] },
    { name: "at its highest priority", adds: [["a"], ["b", 5], ["b", 1], ["c", 3]], want: ["b", "c", "a"] },
  ];
  it.each(orders)("hands keys out $name", async ({ adds, want }) => {
    const { queue } = setUp();
    for (const [key, priority] of adds) queue.add(key, priority === undefined ? {} : { priority });
    expect(queue.length).toBe(want.length);
    expect(await drain(queue)).toEqual(want);
  });

  it("lets a key that has waited long enough go before higher priorities", async () => {
    const { clock, queue } = setUp({ headStartMs: 100 });
    queue.add("old");
    await clock.advance(299);
    queue.add("in time", { priority: 3 });
    await clock.advance(2);
    queue.add("too late", { priority: 3 });
    expect(await drain(queue)).toEqual(["in time", "old", "too late"]);
  });

  it("runs a key again, at the end, when it was added while it ran", async () => {
    const { queue } = setUp();
    queue.add("a");
    const key = await queue.take(signal);
    for (const other of ["a", "b", "a"]) queue.add(other);
    expect([key, queue.length]).toEqual(["a", 1]);
    queue.done("a");
    expect(await drain(queue)).toEqual(["b", "a"]);
  });

  it("hands a key to the taker that has waited longest", async () => {
    const { queue } = setUp();
    const taken = [queue.take(signal), queue.take(signal)];
    queue.add("first");
    queue.add("second");
    expect(await Promise.all(taken)).toEqual(["first", "second"]);
  });

  describe("addAfter", () => {
    const delays: { name: string; after: number[]; want: number }[] = [
      { name: "waits", after: [30], want: 30 },
      { name: "an earlier one wins", after: [30, 10], want: 10 },
      { name: "a later one changes nothing", after: [10, 30], want: 10 },
      { name: "none is now", after: [0], want: 0 },
      { name: "the past is now", after: [-3], want: 0 },
    ];
    it.each(delays)("$name", async ({ after, want }) => {
      const { clock, queue } = setUp();
      for (const ms of after) queue.addAfter("key", ms);
      const due = queue.take(signal).then((key) => [key, clock.monotonic()]);
      await clock.runUntilIdle();
      expect(await due).toEqual(["key", want]);
      queue.done("key");
      expect(queue.length).toBe(0);
    });

    it("keeps its delayed run when the key is also added without delay", async () => {
      const { clock, queue } = setUp();
      queue.addAfter("a", 10);
      queue.add("a");
      expect(await drain(queue)).toEqual(["a"]);
      await clock.advance(10);
      expect(await drain(queue)).toEqual(["a"]);
    });

    it("marks a key that runs when its delay ends", async () => {
      const { clock, queue } = setUp();
      queue.add("a");
      await queue.take(signal);
      queue.addAfter("a", 5);
      await clock.advance(5);
      expect(queue.length).toBe(0);
      queue.done("a");
      expect(await drain(queue)).toEqual(["a"]);
    });

    it("keeps the priority, and the highest of several", async () => {
      const { clock, queue } = setUp();
      queue.addAfter("a", 5, { priority: 3 });
      queue.addAfter("a", 9);
      queue.addAfter("b", 4, { priority: 2 });
      await clock.advance(5);
      expect(await drain(queue)).toEqual(["a", "b"]);
    });

    it("needs one timer for any number of keys", async () => {
      const { clock, queue } = setUp();
      for (let i = 0; i < 5_000; i++) queue.addAfter(`key ${i}`, 1 + ((i * 7_919) % 5_000));
      expect(clock.pending).toBe(1);
      await clock.advance(2_500);
      expect([queue.length, clock.pending]).toEqual([2_500, 1]);
      await clock.runUntilIdle();
      expect([queue.length, clock.pending]).toEqual([5_000, 0]);
    });

    it("refuses NaN", () => {
      expect(() => setUp().queue.addAfter("a", Number.NaN)).toThrow(RangeError);
    });
  });

  it("addRateLimited waits longer with each failure, until the key is forgotten", async () => {
    const { clock, queue } = setUp({ backoff: { initialMs: 10, maxMs: 35 } });
    const waits: number[] = [];
    for (const step of ["fail", "fail", "fail", "fail", "forget", "fail"]) {
      if (step === "forget") {
        expect(queue.retries("a")).toBe(4);
        queue.forget("a");
        continue;
      }
      const start = clock.monotonic();
      queue.addRateLimited("a");
      await clock.runUntilIdle();
      waits.push(clock.monotonic() - start);
      await drain(queue);
    }
    expect(waits).toEqual([10, 20, 35, 35, 10]);
  });

  it("retries at the priority at which the key runs", async () => {
    const { clock, queue } = setUp();
    queue.add("a", { priority: 4 });
    await queue.take(signal);
    queue.addRateLimited("a");
    queue.done("a");
    queue.add("b", { priority: 3 });
    await clock.runUntilIdle();
    expect(await drain(queue)).toEqual(["a", "b"]);
  });

  it("take rejects with the signal's reason and takes nothing along", async () => {
    const { queue } = setUp();
    const controller = new AbortController();
    const waiting = expect(queue.take(controller.signal)).rejects.toBe("stop");
    controller.abort("stop");
    await waiting;
    await expect(queue.take(controller.signal)).rejects.toBe("stop");
    queue.add("a");
    expect(await drain(queue)).toEqual(["a"]);
  });

  it("close ends takers, drops what waits and ignores later adds", async () => {
    const { clock, queue } = setUp();
    queue.add("runs");
    await queue.take(signal);
    const waiting = queue.take(signal);
    queue.add("runs");
    queue.addAfter("later", 10);
    queue.close();
    expect(await waiting).toBeUndefined();
    queue.done("runs");
    queue.add("b");
    queue.addAfter("b", 5);
    queue.addRateLimited("b");
    expect([queue.length, clock.pending, queue.closed]).toEqual([0, 0, true]);
    expect(await queue.take(signal)).toBeUndefined();
  });

  it("refuses done for a key that does not run", () => {
    const { queue } = setUp();
    queue.add("a");
    expect(() => queue.done("a")).toThrow("done without take: a");
  });

  it("tells its observer what happens", async () => {
    const seen: string[] = [];
    const tell =
      (what: string) =>
      (value = 0) =>
        void seen.push(`${what} ${value}`);
    const { clock, queue } = setUp({
      backoff: { initialMs: 5, maxMs: 5 },
      observer: {
        added: tell("added"),
        depth: tell("depth"),
        waited: tell("waited"),
        worked: tell("worked"),
        retried: tell("retried"),
      },
    });
    queue.add("a");
    queue.add("a");
    await clock.advance(3);
    await queue.take(signal);
    await clock.advance(4);
    queue.addRateLimited("a");
    queue.done("a");
    await clock.advance(5);
    expect(seen).toEqual([
      ...["added 0", "depth 1", "depth 0", "waited 3"],
      ...["retried 0", "worked 4", "added 0", "depth 1"],
    ]);
  });
});
