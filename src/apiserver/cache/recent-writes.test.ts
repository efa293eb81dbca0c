import { describe, expect, it } from "vitest";
import { RecentWrites } from "./recent-writes.ts";
import { StoredObject } from "./stored-object.ts";

const stored = (revision: number) => new StoredObject({ key: `/pods/a/${revision}`, revision });

describe("RecentWrites", () => {
  it("gives each write once, in whatever order", () => {
    const writes = new RecentWrites();
    const all = [7, 9, 8].map(stored);
    for (const one of all) writes.add(one);
    expect([8, 7, 9].map((revision) => writes.take(revision)?.revision)).toEqual([8, 7, 9]);
    expect([7, 8, 9, 10].map((revision) => writes.take(revision))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("forgets an older write whose place another takes, and never gives one for the other", () => {
    const writes = new RecentWrites();
    const [old, next] = [stored(5), stored(5 + 1024)];
    writes.add(old);
    writes.add(next);
    expect(writes.take(old.revision)).toBeUndefined();
    expect(writes.take(next.revision)).toBe(next);
  });

  it("has nothing left after it was cleared", () => {
    const writes = new RecentWrites();
    writes.add(stored(5));
    writes.clear();
    expect(writes.take(5)).toBeUndefined();
  });
});
