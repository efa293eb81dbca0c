import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { recordings } from "../../testing/recordings.ts";
import { decodeBase64 } from "../scalars/base64.ts";
import { decodeEnvelope, encodeEnvelope } from "./envelope.ts";
import { decodeWatchFrame, encodeWatchFrame, type WatchFrame } from "./watch.ts";

const object = encodeEnvelope({ apiVersion: "v1", kind: "Pod", raw: Uint8Array.of(1, 2, 3) });

describe("watch frames", () => {
  it("come back as they were, one after the other", () => {
    const one = encodeWatchFrame({ type: "ADDED", object });
    const two = encodeWatchFrame({ type: "DELETED", object: new Uint8Array(70_000) });
    expect(framesIn(Uint8Array.from([...one, ...two])).map(({ type, object: bytes }) => [type, bytes.length])).toEqual([
      ["ADDED", object.length],
      ["DELETED", 70_000],
    ]);
  });

  it("wait for their end", () => {
    const frame = encodeWatchFrame({ type: "ADDED", object });
    for (let length = 0; length < frame.length; length++)
      expect(decodeWatchFrame(frame.subarray(0, length))).toBeUndefined();
    expect(decodeWatchFrame(frame)?.rest).toHaveLength(0);
  });
});

const recorded = recordings("reference/watch/08-watch-protobuf.b64");

describe.skipIf(!existsSync(recorded))("a recorded watch", () => {
  it("is read, and written again byte for byte", () => {
    const bytes = decodeBase64(readFileSync(recorded, "utf8"));
    const frames = framesIn(bytes);
    expect(frames[0]?.type).toBe("ADDED");
    expect(frames.map((frame) => decodeEnvelope(frame.object).kind)).toContain("ConfigMap");
    expect(Uint8Array.from(frames.flatMap((frame) => [...encodeWatchFrame(frame)]))).toEqual(bytes);
  });
});

function framesIn(bytes: Uint8Array): WatchFrame[] {
  const frames: WatchFrame[] = [];
  for (let next = decodeWatchFrame(bytes); next !== undefined; next = decodeWatchFrame(next.rest))
    frames.push(next.frame);
  return frames;
}
