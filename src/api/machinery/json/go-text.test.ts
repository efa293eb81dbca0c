import { describe, expect, it } from "vitest";
import { goJson, goNumber, goQuote, goString, goValue } from "./go-text.ts";

describe("Go's ways of writing values", () => {
  it.each([
    ["plain", '"plain"'],
    ['a "b" \\', '"a \\"b\\" \\\\"'],
    ["a\nb\t\x00\x07\x7f", '"a\\nb\\t\\x00\\a\\x7f"'],
    ["grün 漢", '"grün 漢"'],
    ["\u00a0\u200b\ufeff", '"\\u00a0\\u200b\\ufeff"'],
    ["\u{e0001}", '"\\U000e0001"'],
  ])("quotes %j", (text, want) => expect(goQuote(text)).toBe(want));

  it.each([
    [{ b: [1, "x"], a: null, c: { d: true } }, "map[a:<nil> b:[1 x] c:map[d:true]]"],
    [[{ name: "c" }], "[map[name:c]]"],
    [0.5, "0.5"],
    [[9223372036854775807n], "[9223372036854775807]"],
  ])("prints %#", (value, want) => expect(goValue(value)).toBe(want));

  it.each([
    ["x", "x"],
    [null, "%!s(<nil>)"],
    [3, "%!s(int64=3)"],
    [false, "%!s(bool=false)"],
    [{ b: [1, "x"], a: null }, "map[a:%!s(<nil>) b:[%!s(int64=1) x]]"],
  ])("prints %j where it expects a string", (value, want) => expect(goString(value)).toBe(want));

  it.each([
    [1e21, "1e+21"],
    [1e-5, "1e-05"],
    [0.0001, "0.0001"],
    [-3, "-3"],
    [0, "0"],
    [123456789, "123456789"],
    [123456.5, "123456.5"],
    [1234567.5, "1.2345675e+06"],
    [2 ** 60, "1.152921504606847e+18"],
  ])("prints the number %d", (value, want) => expect(goNumber(value)).toBe(want));

  it("keeps JSON safe inside of HTML", () => {
    expect(goJson({ a: "<b>&\u2028" })).toBe('{"a":"\\u003cb\\u003e\\u0026\\u2028"}');
  });
});
