import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareKeys, prefixRange, sortKey } from "./key-order.ts";

/** Well-formed text that crosses the borders where UTF-16 and UTF-8 disagree. */
const keys = fc
  .array(fc.constantFrom("a", "b", "/", "\u0000", "\ud7ff", "\ue000", "\uffff", "\u{10000}", "\u{10ffff}"), {
    maxLength: 5,
  })
  .map((units) => units.join(""));

describe("key order", () => {
  it("is the order of UTF-8 bytes", async () => {
    await fc.assert(
      fc.property(keys, keys, (a, b) => {
        expect(compareKeys(a, b)).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
      { numRuns: 2000 },
    );
  });

  it("leaves ASCII as it is", () => {
    const key = "/registry/pods/default/web-0";
    expect(sortKey(key)).toBe(key);
  });

  it("finds exactly the keys with a prefix in the prefix's range", async () => {
    await fc.assert(
      fc.property(keys, keys, (prefix, key) => {
        const { from, before } = prefixRange(prefix);
        const sorted = sortKey(key);
        expect(sorted >= from && (before === undefined || sorted < before)).toBe(key.startsWith(prefix));
      }),
      { numRuns: 2000 },
    );
  });

  it("has no end after the largest of all prefixes", () => {
    expect(prefixRange("")).toEqual({ from: "" });
    expect(prefixRange("\u{10ffff}").before).toBeDefined();
  });
});
