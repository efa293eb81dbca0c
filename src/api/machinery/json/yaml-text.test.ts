import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Json, plainJson } from "./json.ts";
import { writeYaml } from "./write-yaml.ts";
import { parseYaml } from "./yaml-text.ts";

/** What JSON escapes, and YAML writes as it is. */
const controls = /\\u|[\u007f-\u009f\ufffe\uffff]/;

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
    ["a: 0b101\nb: -0x1F\nc: 08\nd: +12\ne: 1e400", { a: 5, b: -31, c: 8, d: 12, e: "1e400" }],
    ["a: !!str 1\nb: !!float 1\nc: !!binary aGk=\nd: !own x\ne: ! 1", { a: "1", b: 1, c: "hi", d: "x", e: "1" }],
    ["? a\n: - b\n  - c\n? d", { a: ["b", "c"], d: null }],
    ["a:\n- b\n-\n- c: 1\n  d: 2\n- - e", { a: ["b", null, { c: 1, d: 2 }, ["e"]] }],
    [
      "a: [b, {c: d}, e: f, 'g', [], {}, http://h:1/i]",
      { a: ["b", { c: "d" }, { e: "f" }, "g", [], {}, "http://h:1/i"] },
    ],
    ["{a: b,\n c,\n 'd': ,\n e: [\n1,\n]}", { a: "b", c: null, d: null, e: [1] }],
    ["a: one\n  two\n\n  three # not this\nb: x", { a: "one two\nthree", b: "x" }],
    ["a: 'it''s\n  two'\nb: \"\\x41\\u00e9\\U0001F600\\\n   c  d\\t\"", { a: "it's two", b: "Aé😀c  d\t" }],
    ["a: |2+\n    b\n   c\n\nd: >\n  e\n  f\n\n   g\n  h\n", { a: "  b\n c\n\n", d: "e f\n\n g\nh\n" }],
    ["%YAML 1.1\n%TAG !y! tag:yaml.org,2002:\n---\na: !y!str 1\n...\n", { a: "1" }],
    ["a: &x 1\n*x : 2\nb: *x", { "1": 2, a: 1, b: 1 }],
    ["\ufeffa: 1\r\nb: 2", { a: 1, b: 2 }],
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

  it.each<[string, Json]>([
    ["b: {p: 1, <<: {p: 2, q: 3}}", { p: 2, q: 3 }],
    ["b:\n  <<: [{p: 1}, {p: 2, q: 3}]", { p: 1, q: 3 }],
  ])("merges where the merge key stands, which strict decoding takes for a second key: %j", (text, b) => {
    expect(parseYaml(text)).toEqual({
      value: { b },
      duplicates: expect.stringContaining('key "p" already set in map'),
    });
  });

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
    ["a: 1\nb: c: d", "yaml: line 2: mapping values are not allowed in this context"],
    ["a: 1\n b: 2", "yaml: line 2: mapping values are not allowed in this context"],
    ["a: 1\n- b", "yaml: line 1: did not find expected key"],
    ["- a\nb: 1", "yaml: line 1: did not find expected '-' indicator"],
    ["a: 1\nb\nc: 2", "yaml: line 3: could not find expected ':'"],
    ["a: 'b", "yaml: found unexpected end of stream"],
    ['a: "\\q"', "yaml: found unknown escape character"],
    ["a:\n  - 'b'\n  - @c", "yaml: line 3: found character that cannot start any token"],
    ["a: ]", "yaml: did not find expected node content"],
    ["a: &x [*x]", "yaml: anchor 'x' value contains itself"],
    ["a: \u0001", "yaml: control characters are not allowed"],
    ["a: !!int b", "yaml: cannot decode !!str `b` as a !!int"],
    ["<<: 1", "yaml: map merge requires map or sequence of maps as the value"],
    ["[a]: 1", 'yaml: invalid map key: []interface {}{"a"}'],
    ["~: 1", "unsupported map key of type: %!s(<nil>), key: <nil>, value: 1"],
    ["a: !x!y z", "yaml: found undefined tag handle"],
    ["%YAML 1.2\n---\na: 1", "yaml: found incompatible YAML document"],
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
    expect(() => parseYaml(lines.join("\n"))).toThrow("yaml: document contains excessive aliasing");
  });

  it("does not let aliases nest deeper than text", () => {
    const lines = ["a0: &a0 x"];
    for (let i = 0; i < 20; i++) lines.push(`a${i + 1}: &a${i + 1} ${"[".repeat(90)}*a${i}${"]".repeat(90)}`);
    expect(() => parseYaml(lines.join("\n"))).toThrow("yaml: exceeded max depth of 10000");
  });

  it("reads what is written, whatever it is", () => {
    const scalar = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.integer(),
      fc.boolean(),
      fc.constantFrom(null, "<<", "~", "1e3", "- a", "a: b"),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        scalar,
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie("value"), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(value, (given) => {
        const read = plainJson(given) as Json;
        const json = JSON.stringify(read);
        // JSON does not escape all characters that YAML refuses.
        if (/[\x7f-\x84\x86-\x9f\ufffe\uffff]/.test(json)) expect(() => parseYaml(json)).toThrow("control characters");
        else expect(parseYaml(json).value).toEqual(read);
        if (!controls.test(JSON.stringify(read))) expect(parseYaml(writeYaml(read)).value).toEqual(read);
      }),
      { numRuns: 300 },
    );
  });
});
