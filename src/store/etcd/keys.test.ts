import { describe, expect, it } from "vitest";
import { changeOf, entryOf, keyBytes, rangeOf } from "./keys.ts";

describe("ranges", () => {
  const shown = (range: ReturnType<typeof rangeOf>) =>
    range && [range.key.toString("latin1"), range.rangeEnd.toString("latin1")];

  it.each([
    { prefix: "/a/", after: undefined, want: ["/a/", "/a0"] },
    { prefix: "", after: undefined, want: ["\x01", "\0"] },
    { prefix: "é", after: undefined, want: ["\xc3\xa9", "\xc3\xaa"] },
    { prefix: "/a/", after: "/a/b", want: ["/a/b\0", "/a0"] },
    { prefix: "/a/", after: "/a", want: ["/a/", "/a0"] },
    { prefix: "/a/", after: "", want: ["/a/", "/a0"] },
    { prefix: "/a/", after: "/a0", want: undefined },
    { prefix: "/a/", after: "/b", want: undefined },
    { prefix: "", after: "/b", want: ["/b\0", "\0"] },
    { prefix: "", after: "", want: ["\x01", "\0"] },
  ])("$prefix after $after", ({ prefix, after, want }) => {
    expect(shown(rangeOf(prefix, after))).toEqual(want);
  });

  it("does not reach the store's own keys", () => {
    expect(() => keyBytes("\0x")).toThrow(RangeError);
    expect(() => rangeOf("\0")).toThrow(RangeError);
  });
});

describe("values", () => {
  const kv = (value: Buffer) => ({
    key: Buffer.from("k"),
    value,
    createRevision: "3",
    modRevision: "9007199254740991",
    version: "2",
  });

  it("become entries with whole revisions", () => {
    expect(entryOf(kv(Buffer.from("v")))).toEqual({
      key: "k",
      value: Buffer.from("v"),
      createRevision: 3,
      revision: Number.MAX_SAFE_INTEGER,
    });
  });

  it("do not keep a large message alive", () => {
    const message = Buffer.alloc(1_000_000, "x");
    expect(entryOf(kv(message.subarray(10, 20))).value.buffer.byteLength).toBeLessThan(100_000);
    expect(entryOf(kv(message.subarray(10, 900_000))).value.buffer).toBe(message.buffer);
  });

  it("are absent after a deletion", () => {
    const change = changeOf({ type: 1, kv: kv(Buffer.alloc(0)), prevKv: kv(Buffer.from("old")) });
    expect(change).toMatchObject({ key: "k", entry: undefined, previous: { value: Buffer.from("old") } });
  });
});
