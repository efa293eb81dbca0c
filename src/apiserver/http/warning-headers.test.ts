import { describe, expect, it } from "vitest";
import { warningHeaders } from "./warning-headers.ts";

describe("warnings", () => {
  it.each<{ name: string; given: string[]; want: string[] }>([
    { name: "none", given: [], want: [] },
    { name: "quoted", given: ['a "b" \\c'], want: ['299 - "a \\"b\\" \\\\c"'] },
    { name: "each once, in order", given: ["b", "a", "b"], want: ['299 - "b"', '299 - "a"'] },
    { name: "not empty, and without control characters", given: ["", "a\nb", "c"], want: ['299 - "c"'] },
  ])("$name", ({ given, want }) => {
    expect(warningHeaders(given)).toEqual(want);
  });

  it("stay whole while they fit", () => {
    expect(warningHeaders(["x".repeat(4096)])[0]).toHaveLength(4096 + '299 - ""'.length);
  });

  it("are cut, then left out, where they do not", () => {
    const many = Array.from({ length: 50 }, (_, i) => `${i}`.padEnd(300, "x"));
    const headers = warningHeaders(many);
    expect(headers).toHaveLength(16);
    expect(new Set(headers.map(({ length }) => length))).toEqual(new Set([256 + '299 - ""'.length]));
  });
});
