import { describe, expect, it } from "vitest";
import { RecentWrites } from "./recent-writes.ts";
import { StoredObject } from "./stored-object.ts";

const writeAt = (revision: number) => new StoredObject({ key: "/a", value: Buffer.from("{}"), revision });

describe("writes under way", () => {
  it("are taken once, each by its revision", () => {
    const writes = new RecentWrites();
    const [first, second] = [writeAt(5), writeAt(6)];
    writes.add(first);
    writes.add(second);
    expect(writes.take(7)).toBeUndefined();
    expect(writes.take(6)).toBe(second);
    expect(writes.take(6)).toBeUndefined();
    expect(writes.take(5)).toBe(first);
  });

  it("give way to those that are a thousand and more later", () => {
    const writes = new RecentWrites();
    const later = writeAt(5 + 1024);
    writes.add(writeAt(5));
    writes.add(later);
    expect(writes.take(5)).toBeUndefined();
    expect(writes.take(5 + 1024)).toBe(later);
  });

  it("are forgotten when the cache is replaced", () => {
    const writes = new RecentWrites();
    writes.add(writeAt(5));
    writes.clear();
    expect(writes.take(5)).toBeUndefined();
  });
});
