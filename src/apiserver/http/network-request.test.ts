import { once } from "node:events";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { apiRequest, type NetworkRequest } from "./network-request.ts";

const request = (source: Readable | undefined) =>
  apiRequest({ method: "POST", target: "/", headers: {}, rawHeaders: [], source } as unknown as NetworkRequest);

describe("the body of a request", () => {
  it.each([
    { name: "none", parts: undefined, want: "" },
    { name: "an empty one", parts: [], want: "" },
    { name: "one part", parts: ["whole"], want: "whole" },
    { name: "several parts", parts: ["a", "bc", "", "def"], want: "abcdef" },
    { name: "as long as the limit", parts: ["12345", "67890"], want: "1234567890" },
  ])("$name", async ({ parts, want }) => {
    const source = parts && Readable.from(parts.map((part) => Buffer.from(part)));
    expect((await request(source).body(10)).toString()).toBe(want);
  });

  it("beyond the limit is refused, and read to its end", async () => {
    const source = Readable.from(["12345", "67890", "1", "2"].map((part) => Buffer.from(part)));
    const ended = once(source, "end");
    await expect(request(source).body(10)).rejects.toThrow("limit is 10");
    await ended;
  });

  it("in parts of a byte is one Buffer of its size", async () => {
    function* bytes() {
      for (let i = 0; i < 100_000; i++) yield Buffer.from([i % 256]);
    }
    const body = await request(Readable.from(bytes())).body(1_000_000);
    expect(body.equals(Buffer.concat([...bytes()]))).toBe(true);
    expect(body.buffer.byteLength).toBeLessThanOrEqual(200_000);
  });
});
