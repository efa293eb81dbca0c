import { describe, expect, it } from "vitest";
import type { Json } from "../machinery/json/json.ts";
import { compileJsonPath, JsonPathError } from "./json-path.ts";

const value: Json = {
  a: { b: 1, "c.d": 2, "e-f": 3 },
  list: [
    { n: 1, t: "x" },
    { n: 2, t: "y" },
    { n: 3, t: "x" },
  ],
  none: null,
};

describe("JSONPath", () => {
  it.each<readonly [string, readonly Json[]]>([
    [".a.b", [1]],
    ["$.a.b", [1]],
    [".a.x", []],
    [".none.x", []],
    [".a.b.c", []],
    [".a['e-f']", [3]],
    [".a.c\\.d", [2]],
    [".list[0].n", [1]],
    [".list[-1].n", [3]],
    [".list[1:].n", [2, 3]],
    [".list[:2].n", [1, 2]],
    [".list[::2].n", [1, 3]],
    [".list[*].n", [1, 2, 3]],
    [".list[0,2].n", [1, 3]],
    [
      ".list.*",
      [
        { n: 1, t: "x" },
        { n: 2, t: "y" },
        { n: 3, t: "x" },
      ],
    ],
    ['.list[?(@.t=="x")].n', [1, 3]],
    [".list[?(@.t=='y')].n", [2]],
    [".list[?(@.n>1)].n", [2, 3]],
    [".list[?(@.n<=1)].n", [1]],
    ['.list[?(@.t!="x")].n', [2]],
    [".list[?(@.t)].n", [1, 2, 3]],
    [".list[?(@.x)].n", []],
    ["..n", [1, 2, 3]],
  ])("%s", (path, want) => {
    expect(compileJsonPath(path)(value)).toEqual(want);
  });

  it.each([".a[", ".list[x]", '.list[?(@.t=="x"]', "....n", "#"])("%s is none", (path) => {
    expect(() => compileJsonPath(path)).toThrow(JsonPathError);
  });

  it.each([".list[9]", ".a[0]", ".a[?(@.x)]", '.list[?(@.n=="x")]'])("%s does not fit", (path) => {
    expect(() => compileJsonPath(path)(value)).toThrow(JsonPathError);
  });
});
