import { describe, expect, it } from "vitest";
import { VirtualClock } from "../system/virtual-clock.ts";
import { BufferedWriter } from "./buffered-writer.ts";

describe("BufferedWriter", () => {
  it("writes when its limit is exceeded, when its time is over, and when asked to", async () => {
    const clock = new VirtualClock();
    const written: string[] = [];
    const writer = new BufferedWriter({ write: (text) => written.push(text), bytes: 6, everyMs: 5_000, clock });
    writer.write("abc");
    writer.write("äé");
    expect(written).toEqual(["abcäé"]);
    writer.write("d");
    await clock.advance(4_999);
    expect(written).toHaveLength(1);
    await clock.advance(1);
    expect(written).toEqual(["abcäé", "d"]);
    writer.write("e");
    writer.flush();
    writer.flush();
    expect(written).toEqual(["abcäé", "d", "e"]);
    expect(clock.pending).toBe(0);
  });
});
