import { describe, expect, it } from "vitest";
import { MemoryState } from "./state.ts";

describe("MemoryState", () => {
  it("lets go of compacted changes, on its own side only", () => {
    const state = new MemoryState(0);
    for (let i = 0; i < 1000; i++) state.write(`/k/${i % 10}`, Buffer.from(`${i}`));
    const fork = state.fork();
    expect(state.history).toBe(1000);
    state.compact(900);
    state.compact(100);
    expect([state.history, state.compacted, state.count("")]).toEqual([100, 900, 10]);
    state.compact(1000);
    expect([state.history, fork.history, fork.compacted]).toEqual([0, 1000, 0]);
  });

  it("stops reading the log at the limit, and says how far it came", () => {
    const state = new MemoryState(0);
    for (const key of ["/a/1", "/b/1", "/a/2", "/b/2", "/a/3"]) state.write(key, Buffer.from("x"));
    const read = (prefix: string, after: number, limit: number) => {
      const { changes, through } = state.readLog(prefix, after, limit);
      return { keys: changes.map((change) => change.key), through };
    };
    expect(read("/a/", 0, 2)).toEqual({ keys: ["/a/1", "/a/2"], through: 3 });
    expect(read("/a/", 3, 2)).toEqual({ keys: ["/a/3"], through: 5 });
    expect(read("/c", 0, 2)).toEqual({ keys: [], through: 5 });
  });
});
