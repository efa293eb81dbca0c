import { describe, expect, it } from "vitest";
import { cloneJson, plainJson } from "./json.ts";

describe("a copy", () => {
  it.each<[string, unknown]>([
    ["scalars", { a: 1, b: "x", c: true, d: null }],
    ["what is nested", { list: [{ a: [1, [2]] }, "x"], empty: {}, none: [] }],
    ["what is not there", { a: undefined }],
    ["a key that is no ordinary one", JSON.parse('{"__proto__":{"a":1}}')],
  ])("is equal: %s", (_, value) => expect(cloneJson(value)).toStrictEqual(value));

  it("shares nothing, and can be changed where its source cannot", () => {
    const source = Object.freeze({ list: Object.freeze([Object.freeze({ a: 1 })]) });
    const copy = cloneJson(source) as { list: { a: number }[] };
    copy.list.push({ a: 2 });
    Object.assign(copy.list[0] ?? {}, { a: 3 });
    expect([copy, source]).toEqual([{ list: [{ a: 3 }, { a: 2 }] }, { list: [{ a: 1 }] }]);
  });

  it("keeps a key called __proto__ as a key", () => {
    const copy = cloneJson(JSON.parse('{"__proto__":{"a":1}}') as object);
    expect([Object.keys(copy), Object.getPrototypeOf(copy)]).toEqual([["__proto__"], Object.prototype]);
  });
});

describe("what would be read from the text of a value", () => {
  class Sized {
    toJSON() {
      return "1Gi";
    }
  }
  it.each<[string, unknown]>([
    ["scalars", { a: 1.5, b: "x", c: true, d: null }],
    ["what is nested", { list: [{ a: [1, [2]] }, "x"], empty: {}, none: [] }],
    ["what is not there", { a: undefined, b: [undefined, () => 1], c: { d: undefined }, e: Symbol("e") }],
    ["numbers that JSON has no word for", [Number.NaN, Number.POSITIVE_INFINITY, -0]],
    ["what has a form of its own", { at: new Date(0), size: new Sized(), in: [new Sized()] }],
    ["a key that is no ordinary one", JSON.parse('{"__proto__":{"a":1}}')],
    ["nothing", undefined],
  ])("is the same without it: %s", (_, value) => {
    const text = JSON.stringify(value);
    expect(plainJson(value)).toStrictEqual(text === undefined ? undefined : JSON.parse(text));
  });

  it("has each integer in its one form", () => {
    expect(plainJson({ a: 1n, b: 2n ** 60n })).toEqual({ a: 1, b: 2n ** 60n });
  });
});
