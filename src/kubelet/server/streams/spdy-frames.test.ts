import { describe, expect, it } from "vitest";
import { controlFrame, dataFrames, FIN, FrameReader, PING, SYN_REPLY, uint32 } from "./spdy-frames.ts";

const frames = Buffer.concat([
  controlFrame({ type: SYN_REPLY, flags: 0, payload: uint32(1) }),
  ...dataFrames({ streamId: 3, flags: FIN, payload: Buffer.from("some bytes") }),
  controlFrame({ type: PING, flags: 0, payload: uint32(2) }),
  ...dataFrames({ streamId: 5, flags: 0, payload: Buffer.alloc(0) }),
]);

function read(chunkBytes: number): readonly string[] {
  const reader = new FrameReader();
  const found: string[] = [];
  for (let at = 0; at < frames.length; at += chunkBytes)
    for (const frame of reader.read(frames.subarray(at, at + chunkBytes))) {
      const about = "type" in frame ? `control ${frame.type}` : `data ${frame.streamId}`;
      found.push(`${about} ${frame.flags} ${frame.payload.toString("hex")}`);
    }
  return found;
}

describe("FrameReader", () => {
  it.each([1, 2, 7, 8, 9, 25, 1000])("reads the same frames from pieces of %i bytes", (chunkBytes) => {
    expect(read(chunkBytes)).toEqual([
      "control 2 0 00000001",
      `data 3 1 ${Buffer.from("some bytes").toString("hex")}`,
      "control 6 0 00000002",
      "data 5 0 ",
    ]);
  });

  it("leaves a payload as it was when more arrives", () => {
    const reader = new FrameReader();
    const parts = [frames.subarray(0, 5), frames.subarray(5, 14), frames.subarray(14)];
    const payloads = parts.flatMap((part) => [...reader.read(part)]).map(({ payload }) => payload.toString());
    expect(payloads).toContain("some bytes");
  });

  it("copies a frame of many pieces a few times in all", () => {
    // A million pieces: joined for each of them, this would be half a terabyte.
    const payload = Buffer.alloc(1_000_000, 7);
    const [head = payload] = dataFrames({ streamId: 1, flags: 0, payload });
    const reader = new FrameReader();
    expect([...reader.read(head)]).toEqual([]);
    let found = 0;
    for (let at = 0; at < payload.length; at++)
      for (const frame of reader.read(payload.subarray(at, at + 1))) found += frame.payload.equals(payload) ? 1 : 0;
    expect(found).toBe(1);
  });
});
