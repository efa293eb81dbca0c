import { describe, expect, it } from "vitest";
import { OutputBuffers } from "./output-buffers.ts";

describe("buffers for output", () => {
  it("have the size that is asked for, and are used again", () => {
    const buffers = new OutputBuffers();
    for (const bytes of [0, 1, 16 * 1024, 16 * 1024 + 1, 64 * 1024, 300_000]) {
      const first = buffers.take(bytes);
      const second = buffers.take(bytes);
      expect([first.length >= bytes, second === first]).toEqual([true, false]);
      buffers.giveBack(first);
      expect(buffers.take(bytes)).toBe(first);
    }
  });

  it("are not kept without a limit", () => {
    const buffers = new OutputBuffers();
    const all = Array.from({ length: 100 }, () => buffers.take(10));
    for (const each of all) buffers.giveBack(each);
    const again = Array.from({ length: 100 }, () => buffers.take(10));
    expect(again.filter((each) => all.includes(each)).length).toBe(16);
    const huge = buffers.take(1_000_000);
    buffers.giveBack(huge);
    expect(buffers.take(1_000_000)).not.toBe(huge);
  });

  it("hold the same bytes as fresh memory would", () => {
    const buffers = new OutputBuffers();
    for (let round = 0; round < 50; round++) {
      const bytes = (round * 7_919) % 70_000;
      const [pooled, fresh] = [buffers.take(bytes), Buffer.alloc(bytes)];
      for (const each of [pooled, fresh]) each.fill(`round ${round}`, 0, bytes);
      expect(pooled.subarray(0, bytes).equals(fresh)).toBe(true);
      buffers.giveBack(pooled);
    }
  });
});
