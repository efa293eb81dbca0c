import { describe, expect, it } from "vitest";
import type { Json } from "./json.ts";
import { parseYaml } from "./yaml-text.ts";

describe("YAML", () => {
  it.each<[string, Json]>([
    ["a: yes\nb: No\nc: on\nd: OFF\ne: y", { a: true, b: false, c: true, d: false, e: true }],
    ["a: 'yes'\nb: \"no\"", { a: "yes", b: "no" }],
    ["a: 0777\nb: 0x10\nc: 1_000\nd: 0o17", { a: 511, b: 16, c: 1000, d: 15 }],
    ["a: .\nb: {.: {}}\nc: .5\nd: 1.\ne: -1.5", { a: ".", b: { ".": {} }, c: 0.5, d: 1, e: -1.5 }],
    [
      "a: 1:30\nb: 2001-01-01\nc: 1e3\nd: 1.5e+3\ne: 12:30:45",
      { a: "1:30", b: "2001-01-01", c: 1000, d: 1500, e: "12:30:45" },
    ],
    [
      "a: 9223372036854775807\nb: -9223372036854775808\nc: 0x7fffffffffffffff\nd: 9223372036854775808\ne: 1e+400",
      { a: 9223372036854775807n, b: -9223372036854775808n, c: 9223372036854775807n, d: 2 ** 63, e: "1e+400" },
    ],
    ["a: ~\nb:\nc: null", { a: null, b: null, c: null }],
    ["1: x\ntrue: z", { "1": "x", true: "z" }],
    ["a: &x {p: 1}\nb:\n  <<: *x\n  q: 2", { a: { p: 1 }, b: { p: 1, q: 2 } }],
    ["text: |\n  two\n  lines\nfolded: >-\n  one\n  line", { text: "two\nlines\n", folded: "one line" }],
    ['{"a": [1, "b"]}', { a: [1, "b"] }],
    ["a: 1\n---\nb: 2", { a: 1 }],
    ["", null],
    ["# nothing\n", null],
    ["- a\n- b", ["a", "b"]],
    ["__proto__: {a: 1}", JSON.parse('{"__proto__":{"a":1}}') as Json],
  ])("%j", (text, want) => expect(parseYaml(text)).toEqual({ value: want, duplicates: undefined }));

  it("takes the last of two equal keys, and tells of it", () => {
    expect(parseYaml('apiVersion: v1\nkind: ConfigMap\ndata:\n  a: "1"\n  a: "2"\nx: {b: 1, b: 2}\n')).toEqual({
      value: { apiVersion: "v1", kind: "ConfigMap", data: { a: "2" }, x: { b: 2 } },
      duplicates: 'yaml: unmarshal errors:\n  line 5: key "a" already set in map\n  line 6: key "b" already set in map',
    });
  });

  it.each([
    [
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: [unclosed\n",
      "yaml: line 4: did not find expected ',' or ']'",
    ],
    ["a: {b: 1\n", "yaml: line 1: did not find expected ',' or '}'"],
    ["a: b: c", "yaml: mapping values are not allowed in this context"],
    ["\ta: 1", "yaml: found character that cannot start any token"],
    ["a: *none", "yaml: unknown anchor 'none' referenced"],
    [`a: ${"[".repeat(1_000_000)}`, "yaml: exceeded max depth of 10000"],
    [Array.from({ length: 2000 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"), "exceeded max depth of 10000"],
    ["a: .inf", "json: unsupported value: +Inf"],
  ])("refuses %j", (text, message) => expect(() => parseYaml(text)).toThrow(message));

  it("takes brackets in text for text", () => {
    expect(parseYaml(`a: |-\n  ${"[".repeat(5000)}`).value).toEqual({ a: "[".repeat(5000) });
  });

  it("sorts keys", () => {
    expect(JSON.stringify(parseYaml("b: {d: 1, c: 2}\na: 1").value)).toBe('{"a":1,"b":{"c":2,"d":1}}');
  });

  it("does not let aliases multiply without end", () => {
    const lines = ["a: &a [x,x,x,x,x,x,x,x,x,x]"];
    for (const [from, to] of ["ab", "bc", "cd", "de", "ef", "fg"].map((pair) => [...pair])) {
      lines.push(`${to}: &${to} [${Array.from({ length: 10 }, () => `*${from}`).join(",")}]`);
    }
    expect(() => parseYaml(lines.join("\n"))).toThrow("yaml: ");
  });
});
