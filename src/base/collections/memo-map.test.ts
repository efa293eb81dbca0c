import { expect, it } from "vitest";
import { MemoMap, memoized } from "./memo-map.ts";

it("forgets everything when it is full", () => {
  const map = new MemoMap<string, number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.set("b", 3);
  expect([map.get("a"), map.get("b"), map.size]).toEqual([1, 3, 2]);
  map.set("c", 4);
  expect([map.get("a"), map.get("b"), map.get("c"), map.size]).toEqual([undefined, undefined, 4, 1]);
});

it("a memoized function runs once for each argument, and again after it threw", () => {
  const made: number[] = [];
  const half = memoized(2, (value: number) => {
    made.push(value);
    if (made.length === 1) throw new Error("not yet");
    return value / 2;
  });
  expect(() => half(2)).toThrow("not yet");
  expect([half(2), half(2), half(4), half(2), half(6), half(2)]).toEqual([1, 1, 2, 1, 3, 1]);
  expect(made).toEqual([2, 2, 4, 6, 2]);
});
