import { describe, expect, it } from "vitest";
import { inputFrame, readFrame, resizeFrame } from "./channels.ts";

const frame = (channel: number, text: string) => new Uint8Array([channel, ...new TextEncoder().encode(text)]).buffer;

describe("frames of a terminal", () => {
  it.each([
    [frame(1, "out"), { type: "output", bytes: new TextEncoder().encode("out") }],
    [frame(2, "err"), { type: "output", bytes: new TextEncoder().encode("err") }],
    [frame(3, '{"status":"Success"}'), { type: "ended", words: "ended" }],
    [frame(3, '{"status":"Failure","message":"exit code 3"}'), { type: "ended", words: "exit code 3" }],
    [frame(9, "?"), { type: "unknown" }],
  ])("%j is read", (data, want) => {
    expect(readFrame(data)).toEqual(want);
  });

  it("are written with their channel first", () => {
    expect([...inputFrame("é")]).toEqual([0, 0xc3, 0xa9]);
    expect(new TextDecoder().decode(resizeFrame(80, 24).subarray(1))).toBe('{"Width":80,"Height":24}');
    expect(resizeFrame(80, 24)[0]).toBe(4);
  });
});
