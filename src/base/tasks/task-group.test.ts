import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../system/random.ts";
import { VirtualClock } from "../system/virtual-clock.ts";
import { TaskGroup } from "./task-group.ts";

const untilAborted = (signal: AbortSignal) => new VirtualClock().sleep(1, signal);

describe("TaskGroup", () => {
  it("done waits for every task, those included that tasks start", async () => {
    const clock = new VirtualClock();
    const ended: string[] = [];
    const group = new TaskGroup();
    group.run("outer", async (signal) => {
      await clock.sleep(1, signal);
      group.run("inner", async () => {
        await clock.sleep(10, signal);
        ended.push("inner");
      });
      ended.push("outer");
    });
    const done = group.done().then(() => ended.push("done"));
    await clock.runUntilIdle();
    await done;
    expect(ended).toEqual(["outer", "inner", "done"]);
  });

  it("the first failure aborts the others and is thrown after all have ended", async () => {
    const told: string[] = [];
    const group = new TaskGroup({ onFailure: ({ task }) => told.push(task) });
    let cleanedUp = false;
    const failure = new Error("disk gone");
    group.run("waits", async (signal) => {
      try {
        await untilAborted(signal);
      } finally {
        await Promise.resolve();
        cleanedUp = true;
      }
    });
    group.run("fails", async () => {
      throw failure;
    });
    group.run("fails late", async (signal) => {
      await untilAborted(signal).catch(() => {});
      throw new Error("cleanup failed");
    });
    await expect(group.done()).rejects.toBe(failure);
    expect(cleanedUp).toBe(true);
    expect(told).toEqual(["fails", "fails late"]);
    expect(group.failures.map(({ task }) => task)).toEqual(told);
    await expect(group.stop()).rejects.toBe(failure);
  });

  it("restarts what fails, later each time, while the others go on", async () => {
    const clock = new VirtualClock();
    const failed: number[] = [];
    const onFailure = () => failed.push(clock.monotonic());
    const group = new TaskGroup({ onFailure, restart: { clock, random: seededRandom(1) } });
    let others = 0;
    group.run("fails", async () => {
      if (failed.length < 4) throw new Error("not yet");
    });
    group.run("goes on", async (signal) => {
      for (;;) {
        await clock.sleep(1_000, signal);
        others += 1;
      }
    });
    await clock.advance(20_000);
    expect(failed).toEqual([0, 1_000, 3_000, 7_000]);
    expect(others).toBe(20);
    await group.stop();
  });

  it("catches a task that throws before its first wait, and an observer that throws", async () => {
    const group = new TaskGroup({
      onFailure: () => {
        throw new Error("observer");
      },
    });
    group.run("throws", () => {
      throw new Error("at once");
    });
    await expect(group.done()).rejects.toThrow("at once");
    expect(group.failures.map(({ task }) => task)).toEqual(["throws", "throws (onFailure)"]);
  });

  const endings = [
    { name: "stop", end: (group: TaskGroup, _: AbortController) => group.stop("bye") },
    {
      name: "its parent",
      end: (group: TaskGroup, parent: AbortController) => {
        parent.abort("bye");
        return group.done();
      },
    },
    { name: "disposal", end: (group: TaskGroup, _: AbortController) => group[Symbol.asyncDispose]() },
  ];
  it.each(endings)("ended by $name: tasks that reject with the abort have not failed", async ({ name, end }) => {
    const parent = new AbortController();
    const group = new TaskGroup({ parent: parent.signal });
    for (let i = 0; i < 3; i++) group.run(`task ${i}`, untilAborted);
    await end(group, parent);
    expect(group.failures).toEqual([]);
    if (name !== "disposal") expect(group.signal.reason).toBe("bye");
    expect(getEventListeners(parent.signal, "abort")).toEqual([]);
  });

  it("a task that starts another while the group stops ends as aborted, not as failed", async () => {
    const group = new TaskGroup();
    group.run("spawns late", async (signal) => {
      await untilAborted(signal).catch(() => {});
      group.run("too late", async () => {});
    });
    await group.stop();
    expect(group.failures).toEqual([]);
  });

  it("takes nothing once it is over", async () => {
    const parent = new AbortController();
    const group = new TaskGroup({ parent: parent.signal });
    group.run("quick", async () => {});
    await group.done();
    expect(() => group.run("late", async () => {})).toThrow("over");
    expect(getEventListeners(parent.signal, "abort")).toEqual([]);
    await group.stop();
    expect(group.signal.aborted).toBe(false);
  });
});
