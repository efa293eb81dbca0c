import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../json/json.ts";
import { applyMergePatch, createMergePatch } from "./merge-patch.ts";

describe("merge patches", () => {
  // The first rows are the test cases of RFC 7386, appendix A.
  it.each<[Json, Json, Json]>([
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [
      ["a", "b"],
      ["c", "d"],
      ["c", "d"],
    ],
    [{ a: "b" }, ["c"], ["c"]],
    [{ a: "foo" }, null, null],
    [{ a: "foo" }, "bar", "bar"],
    [{ e: null }, { a: 1 }, { a: 1, e: null }],
    [[1, 2], { a: "b", c: null }, { a: "b" }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [{ a: 1 }, { b: [{ c: null, d: 1 }, null] }, { a: 1, b: [{ d: 1 }, null] }],
    [{ a: { b: 1 } }, { a: [{ c: null }] }, { a: [{ c: null }] }],
  ])("%j patched with %j", (target, patch, want) => {
    const before = structuredClone([target, patch]);
    expect(applyMergePatch(target, patch)).toEqual(want);
    expect([target, patch]).toEqual(before);
  });

  it("sorts the keys of what it merged, and of nothing else", () => {
    const patched = applyMergePatch(
      { kind: "K", data: { k: 1, a: 2 }, metadata: { name: "a", labels: {} } },
      { data: { b: 3 } },
    );
    expect(JSON.stringify(patched)).toBe('{"data":{"a":2,"b":3,"k":1},"kind":"K","metadata":{"name":"a","labels":{}}}');
  });
});

const withoutNull = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.integer(),
    fc.string(),
    fc.boolean(),
    fc.array(fc.integer(), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__"), tie("value"), { noNullPrototype: true }),
})).object;

describe("merge patches always", () => {
  it("make of one what they were made for", () => {
    fc.assert(
      fc.property(withoutNull, withoutNull, (from, to) => {
        expect(applyMergePatch(from, createMergePatch(from, to))).toEqual(to);
      }),
    );
  });

  it("change nothing the second time", () => {
    const patch = fc.dictionary(fc.constantFrom("a", "b"), fc.oneof(fc.constant(null), fc.integer(), withoutNull), {
      noNullPrototype: true,
    });
    fc.assert(
      fc.property(withoutNull, patch, (target, change) => {
        const once = applyMergePatch(target, change as JsonObject);
        expect(applyMergePatch(once, change as JsonObject)).toEqual(once);
      }),
    );
  });

  it("change nothing when they are empty", () => {
    fc.assert(
      fc.property(withoutNull, (target) => {
        expect(applyMergePatch(target, {})).toEqual(target);
      }),
    );
  });
});
