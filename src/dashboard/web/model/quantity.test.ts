import { expect, it } from "vitest";
import { bytes, cores, quantity } from "./quantity.ts";

it.each([
  ["250m", 0.25],
  ["2", 2],
  [3, 3],
  ["1Gi", 2 ** 30],
  ["1.5k", 1500],
  ["1e3", 1000],
  ["junk", 0],
  [undefined, 0],
])("%s is %d", (text, value) => {
  expect(quantity(text)).toBe(value);
});

it.each([
  [0, "0 B"],
  [1536, "1.5 KiB"],
  [2 ** 30 * 16, "16 GiB"],
])("%d bytes are %s", (value, text) => {
  expect(bytes(value)).toBe(text);
});

it.each([
  [0.25, "0.25"],
  [2, "2"],
  [2.5, "2.5"],
  [64, "64"],
])("%d cores are %s", (value, text) => {
  expect(cores(value)).toBe(text);
});
