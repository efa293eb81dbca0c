import { expect, it } from "vitest";
import type { Json } from "./json.ts";
import { parseSpelled, spellingOf } from "./spelled-number.ts";

it.each([
  ["1.0", "1.0"],
  ["1e3", "1e3"],
  ["-0", undefined],
  ["99999999999999999999", "99999999999999999999"],
  ["1.50", "1.50"],
  ["1", undefined],
  ["1.5", undefined],
  ["9223372036854775807", undefined],
  ["9007199254740992", undefined],
])("spells %s", (text, want) => expect(spellingOf((parseSpelled(`{"a":[${text}]}`) as { a: Json[] }).a[0])).toBe(want));

it("leaves integers as they are read otherwise", () => {
  expect(parseSpelled("[1,9007199254740992,1.0]")).toEqual([1, 9007199254740992n, expect.any(Symbol)]);
});

it("gives up on documents that are nested too deeply for it", () => {
  const text = `${"[".repeat(9000)}1.0${"]".repeat(9000)}`;
  expect(parseSpelled(text)).toBeInstanceOf(Array);
});
