import { describe, expect, it } from "vitest";
import { Ring } from "./ring.ts";

describe("a ring of bytes", () => {
  it("keeps the latest that fit", () => {
    const ring = new Ring<number>(100);
    for (let item = 1; item <= 10; item++) ring.push(item, 30);
    expect([...ring]).toEqual([8, 9, 10]);
    expect(ring.dropped).toBe(7);
  });

  it("keeps the last one, however large", () => {
    const ring = new Ring<string>(10);
    ring.push("small", 5);
    ring.push("large", 50);
    expect([...ring]).toEqual(["large"]);
  });

  it("gives back what it no longer uses", () => {
    const ring = new Ring<number>(50);
    for (let item = 0; item < 100_000; item++) ring.push(item, 10);
    expect([...ring]).toEqual([99_995, 99_996, 99_997, 99_998, 99_999]);
  });
});
