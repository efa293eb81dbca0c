import { expect, it } from "vitest";
import { duration } from "./age.ts";

it.each([
  [-5, "0s"],
  [999, "0s"],
  [59_000, "59s"],
  [61_000, "1m1s"],
  [600_000, "10m"],
  [3_600_000, "1h"],
  [5_400_000, "1h30m"],
  [90_000_000, "1d1h"],
  [40 * 86_400_000, "40d"],
  [400 * 86_400_000, "1y35d"],
])("%d ms is %s", (ms, text) => {
  expect(duration(ms)).toBe(text);
});
