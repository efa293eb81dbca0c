/** Figures that cel-go and Kubernetes hold on to, because limits on rules depend on them. */
import { describe, expect, it } from "vitest";
import { sizesOf } from "../check/sizes.ts";
import { typeFromSchema } from "../data/schema-type.ts";
import { optionalTypes } from "../standard/optional-types.ts";
import * as types from "../values/type.ts";
import { celEnvironment } from "./environment.ts";

const { bool, int, list, map, string } = types;
const anyObject = types.object("Any", new Map([["n", { json: "n", type: int }]]));

describe("what an evaluation costs, nothing worked out beforehand", () => {
  const environment = celEnvironment({
    optimize: false,
    variables: {
      ints: list(int),
      text: string,
      other: string,
      strings: map(string, string),
      nested: map(string, map(string, anyObject)),
      objects: map(string, anyObject),
      lists: list(list(int)),
      x: int,
      a: bool,
    },
  });
  const long = "x".repeat(500);
  const values = {
    ints: [1, 2],
    text: long,
    other: long,
    strings: { key: "v" },
    nested: {},
    objects: { k: { n: 1 } },
    lists: [],
    x: 1,
    a: false,
  };
  it.each([
    ["'Hello World!'", 0],
    ["ints", 1],
    ["strings['key']", 2],
    ["ints[0]", 2],
    ["strings['ke' + 'y']", 3],
    ["ints[3 - 3]", 3],
    ["has(strings.key)", 1],
    ["has(nested.a.b)", 2],
    ["[1, 2, 3]", 10],
    ["{'a': 1, 'b': 2}", 30],
    ["[1, 2, 3].all(x, true)", 20],
    ["lists.all(x, x.all(y, true))", 2],
    ["text.matches('[0-9]')", 103],
    ["'123'.matches('[0-9]')", 2],
    ["true || false", 0],
    ["a || a || a || a", 4],
    ["1 < 2", 1],
    ["1 == 2", 1],
    ["2 in [1, 2, 3]", 13],
    ["true ? 1 : 2", 0],
    ["false ? false : 1 > 3", 1],
    ["size('123')", 1],
    ["'12345678901234567890' == '123456789012345678901234567890'", 2],
    ["bytes(text)", 51],
    ["string(1)", 1],
    ["text.contains(other)", 2502],
    ["text.startsWith('abc')", 2],
    ["text.size()", 2],
    ["(x > 2 ? ints : ints).all(y, true)", 9],
    ["objects.all(k, objects[k].n > 3)", 9],
    ["(ints + ints).all(y, true)", 16],
    ["'abcdefg'.contains('val1' + 'val2222222')", 4],
    ["ints.map(i, i + 1)", 40],
    ["ints.filter(i, i > 1)", 29],
    ["ints.exists_one(i, i > 1)", 9],
    ["1 / 0 > 0 && true", 1],
  ])("%s: %d", (text, want) => {
    const compiled = environment.compile(text);
    if (!compiled.ok) throw new Error(compiled.issues);
    expect(compiled.program.evaluate(values).cost).toBe(want);
  });
});

const text = { type: "string" };
const schema = {
  type: "object",
  properties: {
    i: { type: "integer" },
    j: { type: "integer" },
    s: text,
    short: { type: "string", maxLength: 10 },
    l: { type: "array", items: { type: "integer" } },
    tags: { type: "array", maxItems: 10, items: { type: "string", maxLength: 5 } },
    m: { type: "object", maxProperties: 10, additionalProperties: text },
    mm: {
      type: "object",
      maxProperties: 10,
      additionalProperties: { type: "object", maxProperties: 10, additionalProperties: text },
    },
    items: {
      type: "array",
      maxItems: 10,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: { type: "object", properties: { k: text, v: text } },
    },
    obj: { type: "object", properties: { field: text, absentField: text } },
    flag: { type: "boolean" },
  },
};
const self = typeFromSchema(schema, { name: "selfType", resource: true });
const environment = celEnvironment({ libraries: [optionalTypes], variables: { self: self ?? types.dyn } });
/** A tenth of the greatest 64-bit number. */
const unknownSize = 2 ** 64 * 0.1;

describe("rules of a CRD", () => {
  const object = {
    i: 1,
    j: 1,
    s: "Rook takes 👑",
    short: "ab",
    l: [1, 2, 3],
    tags: ["a", "b", "c"],
    m: { a: "x" },
    mm: { x: { y: "b" } },
    items: [{ k: "1", v: "a" }, { k: "2" }],
    obj: { field: "a" },
    flag: true,
  };
  it.each([
    ["self.i == self.j", 5, 4],
    ["self.i + 1 == 2", 4, 4],
    ["type(self.i) == int", 4, 4],
    ["double(self.i) < 10.0", 4, 4],
    ["double(5) < 10.0", 1, 2],
    ["self.s.startsWith('Rook')", 3, 3],
    ["self.s.matches('^[^0-9]*$')", 8, 943721],
    ["size(self.s) == 12", 4, 4],
    ["self.s == 'Rook takes 👑'", 4, 4],
    ["self.short == 'ab'", 3, 3],
    ["self.short.contains('ab')", 3, 6],
    ["1 in self.l", 5, 1572865],
    ["self.i in [1, 2, 3]", 2, 15],
    ["self.tags.all(x, x != 'z')", 18, 53],
    ["self.tags.exists(x, x == 'b')", 18, 63],
    ["self.l + [4] == [1, 2, 3, 4]", 4, 24],
    ["has(self.obj.absentField) || true", 2, 2],
    ["self.mm['x']['y'] == 'b'", 5, 5],
    ["self.mm.map(k, k).map(k, k).size() == 1", 32, 286],
    ["self.mm.map(k, self.mm[k].map(m, m)).size() == 1", 34, 1585],
    ["self.items.exists(e, e.k == '2' && e.v == 'x') || true", 19, 103],
    ["optional.of('a').or(optional.of('a')).hasValue()", 2, 4],
    ["optional.of('a').optMap(v, v == 'value').hasValue()", 9, 29],
    ["self.obj.?absentField == optional.none()", 4, unknownSize],
    ["self.obj.?field.orValue('v') == 'a'", 4, 5],
    ["self.flag ? self.i == 1 : self.j == 2", 5, 4],
  ])("%s costs %d, at most %d", (rule, actual, most) => {
    const compiled = environment.compile(rule);
    if (!compiled.ok || self === undefined) throw new Error(compiled.ok ? "no type" : compiled.issues);
    const result = compiled.program.evaluate({ self: object });
    expect(result.ok).toBe(true);
    expect({ actual: result.cost, most: compiled.estimate(sizesOf(self)).max }).toEqual({ actual, most });
  });
});

describe("estimates", () => {
  const hints = new Map([
    ["input", 50],
    ["input.@items", 10],
    ["map", 10],
    ["map.@values", 10],
    ["map.@keys", 10],
    ["text", 500],
  ]);
  const declared = celEnvironment({
    variables: {
      input: list(list(int)),
      map: map(string, map(string, anyObject)),
      text: string,
      raw: types.bytes,
      a: bool,
    },
  });
  it.each([
    ["input.all(x, x.all(y, true))", 2, 1752],
    ["[1, 2, 3].all(x, true)", 20, 20],
    ["text.matches('[0-9]')", 3, 103],
    ["a || a || a || a", 1, 4],
    ["2 in [1, 2, 3]", 13, 13],
    ["bytes(text) == bytes(text)", 3, 302],
    ["map.all(k, map[k].all(x, true))", 2, 372],
    ["map.all(k, k.contains(k))", 2, 62],
    ["dyn(text)", 2, 2],
    ["{'a': text}", 31, 31],
    ["[text, 'abc'].all(x, x.startsWith(x))", 18, 122],
  ])("%s: from %d to %d", (text, min, max) => {
    const compiled = declared.compile(text);
    if (!compiled.ok) throw new Error(compiled.issues);
    const sizes = (path: readonly string[]) => {
      const size = hints.get(path.join("."));
      return size === undefined ? undefined : { min: 0, max: size };
    };
    expect(compiled.estimate(sizes)).toEqual({ min, max });
  });
});
