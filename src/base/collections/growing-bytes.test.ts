import { describe, expect, it } from "vitest";
import { GrowingBytes } from "./growing-bytes.ts";

describe("GrowingBytes", () => {
  it.each([0, 1, 7, 1024, 1025, 5000])("joins %i bytes, whatever their parts", (length) => {
    const all = Buffer.from(Array.from({ length }, (_, i) => i % 256));
    for (const part of [1, 3, 1000, 10_000]) {
      const joined = new GrowingBytes();
      for (let at = 0; at < all.length; at += part) joined.append(all.subarray(at, at + part));
      expect([joined.length, joined.bytes().equals(all)]).toEqual([length, true]);
    }
  });

  it("takes at most twice its bytes, and does not keep the parts", () => {
    const joined = new GrowingBytes();
    for (let i = 0; i < 100_000; i++) joined.append(Buffer.from([i % 256]));
    expect(joined.bytes().buffer.byteLength).toBeLessThanOrEqual(200_000);
  });

  it("does not change what it has given", () => {
    const joined = new GrowingBytes();
    joined.append(Buffer.from("a"));
    const before = joined.bytes();
    for (let i = 0; i < 5000; i++) joined.append(Buffer.from("b"));
    expect(before.toString()).toBe("a");
  });
});
