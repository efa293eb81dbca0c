import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { abortable, childController, isAbort, whenAborted } from "./abort.ts";

const listeners = (signal: AbortSignal) => getEventListeners(signal, "abort").length;

describe("childController", () => {
  it("ends with its parent, for the same reason", () => {
    const parent = new AbortController();
    const child = childController(parent.signal);
    parent.abort("over");
    expect([child.signal.aborted, child.signal.reason]).toEqual([true, "over"]);
    expect(childController(parent.signal).signal.reason).toBe("over");
  });

  it("ends alone without ending its parent, and works without one", () => {
    const parent = new AbortController();
    for (const child of [childController(parent.signal), childController()]) {
      child.abort("mine");
      expect(child.signal.reason).toBe("mine");
    }
    expect(parent.signal.aborted).toBe(false);
  });

  it("leaves nothing on its parent once disposed of or aborted", () => {
    const parent = new AbortController();
    for (let i = 0; i < 100; i++) {
      using child = childController(parent.signal);
      expect(listeners(parent.signal)).toBe(1);
      if (i % 2 === 0) child.abort();
    }
    expect(listeners(parent.signal)).toBe(0);
  });
});

describe("abortable", () => {
  const never = new Promise<never>(() => {});
  const table = [
    { name: "value first", promise: () => Promise.resolve(7), abort: "after", want: { status: "fulfilled", value: 7 } },
    {
      name: "error first",
      promise: () => Promise.reject("bad"),
      abort: "after",
      want: { status: "rejected", reason: "bad" },
    },
    { name: "signal first", promise: () => never, abort: "during", want: { status: "rejected", reason: "over" } },
    {
      name: "signal before",
      promise: () => Promise.reject("bad"),
      abort: "before",
      want: { status: "rejected", reason: "over" },
    },
  ];
  it.each(table)("$name", async ({ promise, abort, want }) => {
    const controller = new AbortController();
    if (abort === "before") controller.abort("over");
    const waiting = Promise.allSettled([abortable<unknown>(promise(), controller.signal)]);
    if (abort === "during") controller.abort("over");
    expect(await waiting).toEqual([want]);
    expect(listeners(controller.signal)).toBe(0);
  });
});

describe("isAbort", () => {
  const reason = new Error("shutting down");
  const platform = Object.assign(new Error("The operation was aborted"), { name: "AbortError" });
  const table = [
    { name: "the reason", error: reason, aborted: true, want: true },
    { name: "caused by the reason", error: new Error("list failed", { cause: reason }), aborted: true, want: true },
    { name: "an AbortError of the platform", error: platform, aborted: true, want: true },
    { name: "another error", error: new Error("bug"), aborted: true, want: false },
    { name: "no error at all", error: undefined, aborted: true, want: false },
    { name: "the reason, too early", error: reason, aborted: false, want: false },
    { name: "an AbortError of somebody else", error: platform, aborted: false, want: false },
  ];
  it.each(table)("$name: $want", ({ error, aborted, want }) => {
    const controller = new AbortController();
    if (aborted) controller.abort(reason);
    expect(isAbort(error, controller.signal)).toBe(want);
  });

  it("ends on a circle of causes", () => {
    const controller = new AbortController();
    controller.abort(reason);
    const circle = new Error("a");
    circle.cause = circle;
    expect(isAbort(circle, controller.signal)).toBe(false);
  });
});

describe("an ending", () => {
  it("has a signal that tells the same, whenever it is asked for", () => {
    const [before, after] = [childController(), childController()];
    const { signal } = before;
    before.abort("enough");
    after.abort("enough");
    for (const one of [signal, before, after, after.signal])
      expect([one.aborted, one.reason]).toEqual([true, "enough"]);
    expect(before.signal).toBe(signal);
    expect(() => after.throwIfAborted()).toThrow("enough");
  });

  it("comes once, with the reason that came first, or with that of signals", () => {
    const ending = childController();
    ending.throwIfAborted();
    ending.abort();
    ending.abort("later");
    expect((ending.reason as Error).name).toBe("AbortError");
    expect(ending.signal.reason).toBe(ending.reason);
  });

  it("calls those who wait for it, and for its signal, unless they have left", async () => {
    const ending = childController();
    const called: string[] = [];
    const leave = ending.whenAborted(() => called.push("left"));
    ending.whenAborted(() => called.push("ending"));
    whenAborted(ending, () => called.push("either"));
    whenAborted(ending.signal, () => called.push("signal"));
    ending.signal.addEventListener("abort", () => called.push("listener"));
    leave();
    const waiting = abortable(new Promise(() => {}), ending);
    ending.abort("enough");
    expect(called).toEqual(["listener", "ending", "either", "signal"]);
    ending.whenAborted(() => called.push("late"));
    expect(called.at(-1)).toBe("late");
    await expect(waiting).rejects.toBe("enough");
  });

  it("comes with that of its parent, unless it was disposed of", () => {
    const parent = new AbortController();
    const [stays, goes] = [childController(parent.signal), childController(parent.signal)];
    goes[Symbol.dispose]();
    parent.abort("enough");
    expect([stays.aborted, stays.reason, goes.aborted]).toEqual([true, "enough", false]);
  });
});
