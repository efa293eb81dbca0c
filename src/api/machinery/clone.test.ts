import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cloneJson } from "./clone.ts";

describe("a clone of JSON", () => {
  it("is the same, and nobody else's", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        const copy = cloneJson(value);
        expect(JSON.stringify(copy)).toBe(text);
        spoil(copy);
        expect(JSON.stringify(value)).toBe(text);
      }),
    );
  });

  it("has a key that other objects inherit as its own", () => {
    const copy = cloneJson(JSON.parse('{"__proto__":{"a":1}}'));
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"a":1}}');
    expect(copy.a).toBeUndefined();
  });

  it("leaves out nothing that is undefined, as structuredClone does not", () => {
    expect(Object.keys(cloneJson({ a: undefined, b: 1 }))).toEqual(["a", "b"]);
  });
});

function spoil(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const part of Object.values(value)) spoil(part);
  if (Array.isArray(value)) value.push("spoilt");
  else (value as Record<string, unknown>).spoilt = true;
}
