import { describe, expect, it } from "vitest";
import { RecentValues } from "./recent-values.ts";
import type { StoredObject } from "./stored-object.ts";

describe("recent values", () => {
  it.each([
    { name: "nothing while they fit", maxBytes: 100, sizes: [40, 40, 20], want: [] },
    { name: "the oldest, as many as needed", maxBytes: 100, sizes: [40, 40, 30, 70], want: [0, 1] },
    { name: "all but the newest, however large it is", maxBytes: 100, sizes: [10, 10, 500], want: [0, 1] },
    { name: "one that was too large, with the next", maxBytes: 100, sizes: [500, 10], want: [0] },
    {
      name: "many small ones in their order",
      maxBytes: 100,
      sizes: Array<number>(140).fill(1),
      want: Array.from({ length: 40 }, (_, i) => i),
    },
  ])("let go: $name", ({ maxBytes, sizes, want }) => {
    const dropped: number[] = [];
    const recent = new RecentValues(maxBytes);
    for (const [i, bytes] of sizes.entries())
      recent.add({ bytes, letGo: () => void dropped.push(i) } as unknown as StoredObject);
    expect(dropped).toEqual(want);
    expect(recent.bytes).toBe(sizes.slice(want.length).reduce((sum, bytes) => sum + bytes, 0));
  });
});
