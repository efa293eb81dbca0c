import { describe, expect, it } from "vitest";
import { seededRandom } from "#base";
import { HeaderDecoder, HeaderEncoder } from "./index.ts";

const decoded = (block: Buffer) => new HeaderDecoder().decode(block);

const answer = {
  "audit-id": "6f1c8a3e-0f4b-4d1e-8d1c-0123456789ab",
  "cache-control": "no-cache, private",
  "content-length": 4711,
  "content-type": "application/json",
  date: "Mon, 16 Nov 2026 00:00:00 GMT",
  "x-kubernetes-pf-flowschema-uid": "e2b1f7d4-8e2d-4d8e-9d58-0123456789ab",
  "x-kubernetes-pf-prioritylevel-uid": "a2b1f7d4-8e2d-4d8e-9d58-0123456789ab",
};
const answerFields = Object.entries(answer).flatMap(([name, value]) => [name, String(value)]);

describe("HeaderEncoder", () => {
  const statuses: readonly { status: number; bytes: number }[] = [
    { status: 200, bytes: 1 },
    { status: 404, bytes: 1 },
    { status: 101, bytes: 5 },
    { status: 201, bytes: 5 },
    { status: 409, bytes: 5 },
  ];
  it.each(statuses)("writes the status $status in $bytes bytes, then in one", ({ status, bytes }) => {
    const encoder = new HeaderEncoder();
    const first = encoder.encode(status, {});
    expect(first).toHaveLength(bytes);
    expect(decoded(first)).toEqual([":status", String(status)]);
    expect(encoder.encode(status, {})).toHaveLength(1);
  });

  it("writes a byte for each field that was sent before, and what is new each time in full", () => {
    const encoder = new HeaderEncoder();
    const decoder = new HeaderDecoder();
    const want = [":status", "200", ...answerFields];
    expect(decoder.decode(encoder.encode(200, answer))).toEqual(want);
    const second = encoder.encode(200, answer);
    expect(decoder.decode(second)).toEqual(want);
    const literals = 1 + 1 + 8 + 1 + 36 + (2 + 1 + 4) + (2 + 1 + 29);
    expect(second).toHaveLength(1 + 4 + literals);
    for (let i = 0; i < 1_000; i++) encoder.encode(200, { "audit-id": `${i}`, "content-length": i, warning: `${i}` });
    expect(encoder.encode(200, answer)).toEqual(second);
  });

  const values: readonly { name: string; value: string | number | readonly string[]; want: readonly string[] }[] = [
    { name: "a number", value: 0, want: ["x-a", "0"] },
    { name: "a list", value: ["one", "two"], want: ["x-a", "one", "x-a", "two"] },
    { name: "an empty list", value: [], want: [] },
    { name: "an empty string", value: "", want: ["x-a", ""] },
    { name: "bytes above ASCII", value: "\x80\xff", want: ["x-a", "\x80\xff"] },
    { name: "characters that are no bytes", value: "a\u{10a}b", want: ["x-a", "a?b"] },
    { name: "long bytes above ASCII", value: "\x80".repeat(1_000), want: ["x-a", "\x80".repeat(1_000)] },
    { name: "long characters that are no bytes", value: "\u{10a}".repeat(1_000), want: ["x-a", "?".repeat(1_000)] },
    { name: "a long value", value: "x".repeat(40_000), want: ["x-a", "x".repeat(40_000)] },
  ];
  it.each(values)("writes $name", ({ value, want }) => {
    expect(decoded(new HeaderEncoder().encode(200, { "x-a": value }))).toEqual([":status", "200", ...want]);
  });

  it("marks cookies as never to be indexed", () => {
    expect(new HeaderEncoder().encode(200, { "set-cookie": "a" }).toString("hex")).toBe("881f280161");
  });

  it("stops adding values of a name that do not come again", () => {
    const encoder = new HeaderEncoder();
    encoder.encode(200, answer);
    const before = encoder.encode(200, answer).length;
    for (let i = 0; i < 1_000; i++) encoder.encode(200, { "x-request": `${i}` });
    expect(encoder.encode(200, answer)).toHaveLength(before);
  });

  it("hands out blocks that later ones leave alone", () => {
    const encoder = new HeaderEncoder();
    const block = encoder.encode(200, { a: "1" });
    const copy = Buffer.from(block);
    encoder.encode(500, { bbbb: "2222" });
    expect(block).toEqual(copy);
  });

  const sizes: readonly { name: string; tableBytes?: number; allow: readonly number[]; start: string }[] = [
    { name: "nothing", allow: [], start: "88" },
    { name: "what it has already", allow: [4096], start: "88" },
    { name: "more than it uses", allow: [65_536], start: "88" },
    { name: "less", allow: [256], start: "3fe10188" },
    { name: "none", allow: [0], start: "2088" },
    { name: "none for a while", allow: [0, 4096], start: "203fe11f88" },
    { name: "less, then some", allow: [1000, 31, 100], start: "3f003f4588" },
    { name: "more than the default", tableBytes: 8192, allow: [8192], start: "3fe13f88" },
    { name: "nothing, but it uses less", tableBytes: 256, allow: [], start: "3fe10188" },
  ];
  it.each(sizes)("tells the table's size once when the peer allows $name", ({ tableBytes, allow, start }) => {
    const encoder = new HeaderEncoder(tableBytes === undefined ? {} : { tableBytes });
    for (const bytes of allow) encoder.allow(bytes);
    expect(encoder.encode(200, {}).toString("hex")).toBe(start);
    expect(encoder.encode(200, {}).toString("hex")).toBe("88");
  });

  const seeds = Array.from({ length: 8 }, (_, seed) => ({ seed }));
  it.each(seeds)("is understood, with evictions and changes of size (seed $seed)", ({ seed }) => {
    const random = seededRandom(seed);
    const tableBytes = random.pick([0, 100, 4096, 20_000]);
    const encoder = new HeaderEncoder({ tableBytes });
    const decoder = new HeaderDecoder({ tableBytes: 20_000 });
    const names = [...Object.keys(answer), "vary", "set-cookie", ...Array.from({ length: 20 }, () => random.string(8))];
    const text = () =>
      random.integer(20) === 0
        ? Buffer.from(random.bytes(random.integer(3_000))).toString("latin1")
        : `${random.integer(12)}`;
    for (let i = 0; i < 150; i++) {
      while (random.integer(8) === 0) encoder.allow(random.pick([0, 64, 200, 1_000, 4_096, 10_000, 20_000]));
      const headers: Record<string, string | number | readonly string[]> = {};
      for (let n = random.integer(10); n > 0; n--)
        headers[random.pick(names)] = random.pick([text(), random.integer(1_000_000), [text(), text()]]);
      const status = random.pick([200, 201, 404, 409, 503]);
      const want = Object.entries(headers).flatMap(([name, value]) =>
        (Array.isArray(value) ? value : [value]).flatMap((each) => [name, String(each)]),
      );
      expect(decoder.decode(encoder.encode(status, headers))).toEqual([":status", String(status), ...want]);
    }
  });
});
