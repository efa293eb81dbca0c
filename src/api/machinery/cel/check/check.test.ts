import { describe, expect, it } from "vitest";
import { celEnvironment } from "../program/environment.ts";
import { bindings } from "../standard/bindings.ts";
import { optionalTypes } from "../standard/optional-types.ts";
import { twoVariableComprehensions } from "../standard/two-variable-comprehensions.ts";
import * as types from "../values/type.ts";

const { bool, bytes, double, dyn, int, list, map, string, timestamp } = types;
const field = (json: string, type: types.Type) => [json, { json, type }] as const;
const node: types.ObjectType = types.object("Node", () => new Map([field("name", string), field("next", node)]));
const environment = celEnvironment({
  libraries: [optionalTypes, twoVariableComprehensions, bindings],
  types: [node],
  variables: {
    i: int,
    d: double,
    s: string,
    b: bool,
    l: list(string),
    m: map(string, int),
    any: dyn,
    t: timestamp,
    raw: bytes,
    node,
    o: types.optional(string),
    "ns.x": int,
  },
});

describe("types", () => {
  it.each([
    ["1", "int"],
    ["i + 1", "int"],
    ["s + 'a'", "string"],
    ["l[0]", "string"],
    ["m.a", "int"],
    ["m['a']", "int"],
    ["any.a.b[0]", "dyn"],
    ["node.next.next.name", "string"],
    ["[1, 2]", "list(int)"],
    ["[]", "list(dyn)"],
    ["[[], [1]]", "list(list(int))"],
    ["{'a': [1]}", "map(string, list(int))"],
    ["l.map(x, size(x))", "list(int)"],
    ["m.map(k, m[k])", "list(int)"],
    ["l.filter(x, true)", "list(string)"],
    ["l.transformMap(i, x, x + 'a')", "map(int, string)"],
    ["m.transformList(k, v, k)", "list(string)"],
    ["b ? 1 : i", "int"],
    ["b ? any : 1", "dyn"],
    ["type(1)", "type(int)"],
    ["int", "type(int)"],
    ["t - t", "duration"],
    ["node.?next.?name", "optional_type(string)"],
    ["o.orValue('x')", "string"],
    ["o.optMap(v, size(v))", "optional_type(int)"],
    ["optional.none()", "optional_type(dyn)"],
    ["cel.bind(x, 1, x + 1)", "int"],
    ["Node{name: 'a'}", "Node"],
    ["ns.x", "int"],
    ["null", "null"],
    ["node == null", "bool"],
    ["null == t", "bool"],
    ["i < d", "bool"],
    ["dyn(1) == 'a'", "bool"],
    ["[?o, 'a']", "list(string)"],
  ])("%s is %s", (text, want) => {
    const compiled = environment.compile(text);
    expect(compiled.ok ? types.formatType(compiled.type) : compiled.issues).toBe(want);
  });
});

describe("faults", () => {
  it.each([
    ["x", "1:1: undeclared reference to 'x' (in container '')", "^"],
    ["f(1)", "1:2: undeclared reference to 'f' (in container '')", ".^"],
    ["s.f(1)", "1:4: undeclared reference to 'f' (in container '')", "...^"],
    ["node.b == 1", "1:5: undefined field 'b'", "....^"],
    ["has(node.b)", "1:4: undefined field 'b'", "...^"],
    ["node.?b", "1:5: undefined field 'b'", "....^"],
    ["s.b", "1:2: type 'string' does not support field selection", ".^"],
    ["1 + 'a'", "1:3: found no matching overload for '_+_' applied to '(int, string)'", "..^"],
    ["i == 'a'", "1:3: found no matching overload for '_==_' applied to '(int, string)'", "..^"],
    ["i == d", "1:3: found no matching overload for '_==_' applied to '(int, double)'", "..^"],
    ["s in m.a", "1:3: found no matching overload for '@in' applied to '(string, int)'", "..^"],
    ["l[s]", "1:2: found no matching overload for '_[_]' applied to '(list(string), string)'", ".^"],
    ["m[1]", "1:2: found no matching overload for '_[_]' applied to '(map(string, int), int)'", ".^"],
    [
      "i.startsWith('a')",
      "1:13: found no matching overload for 'startsWith' applied to 'int.(string)'",
      "............^",
    ],
    ["size(i)", "1:5: found no matching overload for 'size' applied to '(int)'", "....^"],
    ["!i", "1:1: found no matching overload for '!_' applied to '(int)'", "^"],
    ["b && i", "1:6: expected type 'bool' but found 'int'", ".....^"],
    ["i ? 1 : 2", "1:3: found no matching overload for '_?_:_' applied to '(int, int, int)'", "..^"],
    ["b ? 1 : 'a'", "1:3: found no matching overload for '_?_:_' applied to '(bool, int, string)'", "..^"],
    ["[1, 'a']", "1:5: expected type 'int' but found 'string'", "....^"],
    ["[1, any]", "1:5: expected type 'int' but found 'dyn'", "....^"],
    ["{1: 'a', 's': 'b'}", "1:10: expected type 'int' but found 'string'", ".........^"],
    ["{'a': 1, 'b': 's'}", "1:15: expected type 'int' but found 'string'", "..............^"],
    [
      "s.all(x, true)",
      "1:1: expression of type 'string' cannot be range of a comprehension (must be list, map, or dynamic)",
      "^",
    ],
    ["l.all(x, x)", "1:10: expected type 'bool' but found 'string'", ".........^"],
    ["[?s]", "1:3: expected type 'optional_type(string)' but found 'string'", "..^"],
    ["l.all(x, x, true)", "1:10: duplicate variable name: x", ".........^"],
    ["Node{nom: 'a'}", "1:9: undefined field 'nom'", "........^"],
    ["Node{name: 1}", "1:10: expected type of field 'name' is 'string' but provided type is 'int'", ".........^"],
    ["int{a: 1}", "1:4: 'int' is not a message type", "...^"],
    ["i{a: 1}", "1:2: 'int' is not a type", ".^"],
    ["cel.bind(a.b, 1, 2)", "1:11: cel.bind() variable names must be simple identifiers", "..........^"],
    ["o.optMap(1, 2)", "1:10: optMap() variable name must be a simple identifier", ".........^"],
    ["duration('1 hour')", "1:10: invalid duration argument", ".........^"],
    ["timestamp('x')", "1:11: invalid timestamp argument", "..........^"],
    ["timestamp(-62135596801)", "1:11: invalid timestamp argument", "..........^"],
    ["s.matches('a(')", "1:11: invalid matches argument", "..........^"],
  ])("%s", (text, message, caret) => {
    const compiled = environment.compile(text);
    expect(compiled.ok ? "compiles" : compiled.issues).toBe(`ERROR: <input>:${message}\n | ${text}\n | ${caret}`);
  });

  it("are all reported, in the order of their positions", () => {
    const compiled = environment.compile("x + 1 == y || z");
    expect(compiled.ok ? [] : compiled.issues.split("\n").filter((line) => line.startsWith("ERROR"))).toEqual([
      "ERROR: <input>:1:1: undeclared reference to 'x' (in container '')",
      "ERROR: <input>:1:10: undeclared reference to 'y' (in container '')",
      "ERROR: <input>:1:15: undeclared reference to 'z' (in container '')",
    ]);
  });

  it("name the container", () => {
    const within = environment.extend({ container: "ns.inner" });
    const compiled = within.compile("x + y");
    expect(compiled.ok ? "" : compiled.issues.split("\n")[0]).toBe(
      "ERROR: <input>:1:5: undeclared reference to 'y' (in container 'ns.inner')",
    );
  });
});
