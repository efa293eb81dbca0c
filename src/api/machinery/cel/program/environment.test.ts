import { describe, expect, it } from "vitest";
import { fixedCost, fn, type Library, member } from "../functions/function.ts";
import { bindings } from "../standard/bindings.ts";
import { optionalTypes } from "../standard/optional-types.ts";
import { twoVariableComprehensions } from "../standard/two-variable-comprehensions.ts";
import { plain } from "../testing/plain.ts";
import * as types from "../values/type.ts";
import { celEnvironment } from "./environment.ts";
import type { Binding } from "./frame.ts";

const { dyn, int, list, map, string } = types;
const inner = types.object("Inner", new Map([["n", { json: "n", type: int }]]));
const self = types.object(
  "Self",
  new Map<string, types.Field>([
    ["min", { json: "min", type: int }],
    ["max", { json: "max", type: int }],
    ["name", { json: "name", type: string }],
    ["tags", { json: "tags", type: list(string) }],
    ["labels", { json: "labels", type: map(string, string) }],
    ["inner", { json: "inner", type: inner }],
    ["items", { json: "items", type: list(inner) }],
    ["port", { json: "port", type: types.withData(dyn, { format: "intOrString" }) }],
    ["x__dash__y", { json: "x-y", type: string }],
    ["__namespace__", { json: "namespace", type: string }],
  ]),
);
const environment = celEnvironment({
  libraries: [optionalTypes, twoVariableComprehensions, bindings],
  types: [inner],
  variables: { self, any: dyn, missing: int },
});
const variables: Readonly<Record<string, Binding>> = {
  self: {
    min: 1,
    max: 5,
    name: "née",
    tags: ["a", "b", "must"],
    labels: { app: "web", __proto__x: "y" },
    inner: { n: 7 },
    items: [{ n: 1 }, {}, { n: 3 }],
    port: "10%",
    "x-y": "dashed",
    namespace: "default",
  },
  any: { a: [1, 1.5, "x", null, { b: true }], n: null },
};

function evaluated(text: string): unknown {
  const compiled = environment.compile(text);
  if (!compiled.ok) return { issues: compiled.issues };
  const result = compiled.program.evaluate(variables);
  return result.ok ? plain(result.value) : { error: result.error };
}

const error = (message: string) => ({ error: message });
const entries = (object: Readonly<Record<string, unknown>>) => new Map(Object.entries(object));

describe("operators", () => {
  it.each<[string, unknown]>([
    ["1 + 2", 3n],
    ["7 / 2", 3n],
    ["-7 / 2", -3n],
    ["-7 % 3", -1n],
    ["7u % 4u", { uint: 3n }],
    ["1.5 * 2.0", 3],
    ["1.0 / 0.0", Number.POSITIVE_INFINITY],
    ["1 / 0", error("division by zero")],
    ["1u / 0u", error("division by zero")],
    ["1 % 0", error("modulus by zero")],
    ["9223372036854775807 + 1", error("integer overflow")],
    ["-9223372036854775808 - 1", error("integer overflow")],
    ["-(-9223372036854775808)", error("integer overflow")],
    ["9223372036854775807 * 2", error("integer overflow")],
    ["-9223372036854775808 / -1", error("integer overflow")],
    ["18446744073709551615u + 1u", error("unsigned integer overflow")],
    ["0u - 1u", error("unsigned integer overflow")],
    ["'a' + 'b'", "ab"],
    ["b'a' + b'b'", { bytes: [97, 98] }],
    ["[1] + [2, 3]", [1n, 2n, 3n]],
    ["1 < 2 && 2u < 3u && 1.0 < 1.5 && 'a' < 'b' && b'a' < b'b' && false < true", true],
    ["1 < 1.5 && 2u > 1 && 1.0 <= 1u && 9223372036854775807 < 9223372036854775808.0", true],
    ["'a' < '😁' && '\uffee' < '😁'", true],
    ["1 == 1 && 1 != 2", true],
    ["dyn(1) == 1.0 && dyn(1u) == 1 && dyn(1) != '1'", true],
    ["0.0 == -0.0", true],
    ["double('NaN') == double('NaN')", false],
    ["double('NaN') < 1.0", error("NaN values cannot be ordered")],
    ["[1, 2] == [1, 2] && [1] != [2] && [] == []", true],
    ["dyn([1]) == [1.0]", true],
    ["{'a': 1} == {'a': 1} && {'a': 1} != {'a': 2} && {'a': 1} != {'b': 1}", true],
    ["dyn({1: 'a'}) == {1u: 'a'}", true],
    ["dyn(null) == null && dyn(1) != null", true],
    ["type(1) == int && type('a') == string && type([]) == list && type({}) == map && type(null) == null_type", true],
    [
      "type(type(1)) == type && type(1.5) == double && type(1u) == uint && type(b'') == bytes && type(true) == bool",
      true,
    ],
    ["dyn(1) + 'a'", error("no such overload")],
    ["dyn('a').startsWith(dyn(1))", error("no such overload: startsWith(string, int)")],
    ["-dyn('a')", error("no such overload")],
    ["dyn(1) < 'a'", error("no such overload")],
    ["2 in [1, 2] && !(3 in [1, 2]) && 'a' in {'a': 1} && !('b' in {'a': 1})", true],
    ["dyn(2.0) in [1, 2] && 1u in dyn([1])", true],
    ["self.min in [1, 2]", true],
    ["'must' in self.tags", true],
    ["true ? 1 : 2", 1n],
    ["false ? 1 / 0 : 2", 2n],
  ])("%s", (text, want) => {
    expect(evaluated(text)).toEqual(want);
  });
});

describe("logic", () => {
  it.each<[string, unknown]>([
    ["false && 1 / 0 > 0", false],
    ["1 / 0 > 0 && false", false],
    ["true || 1 / 0 > 0", true],
    ["1 / 0 > 0 || true", true],
    ["1 / 0 > 0 && true", error("division by zero")],
    ["1 / 0 > 0 || false", error("division by zero")],
    ["1 / 0 > 0 && 1 % 0 > 0", error("division by zero")],
    ["dyn(1) && true", error("no such overload")],
    ["dyn(1) && false", false],
    ["dyn(1) ? 1 : 2", error("no such overload")],
    ["1 / 0 > 0 ? 1 : 2", error("division by zero")],
    ["!dyn(true)", false],
    ["[1, 0].exists(x, 1 / x > 0)", true],
    ["[0, 1].exists(x, 1 / x > 0)", true],
    ["[0, 1].all(x, 1 / x > 1)", false],
    ["[0, 1].all(x, 1 / x > 0)", error("division by zero")],
    ["[0].exists(x, 1 / x > 0)", error("division by zero")],
  ])("%s", (text, want) => {
    expect(evaluated(text)).toEqual(want);
  });
});

describe("data", () => {
  it.each<[string, unknown]>([
    ["self.min <= self.max", true],
    ["self.name.size()", 3n],
    ["self.inner.n", 7n],
    ["self.x__dash__y", "dashed"],
    ["self.namespace + self.__namespace__", "defaultdefault"],
    ["self.port == '10%' && type(self.port) == string", true],
    ["has(self.inner.n) && !has(self.items[1].n)", true],
    ["self.items[1].n", error("no such key: n")],
    ["self.items[3]", error("index out of bounds: 3")],
    ["self.items[-1]", error("index out of bounds: -1")],
    ["self.labels['none']", error("no such key: none")],
    ["self.labels.app", "web"],
    ["has(self.labels.app) && !has(self.labels.constructor) && !('toString' in self.labels)", true],
    ["any.a[0] + 1", 2n],
    ["any.a[1]", 1.5],
    ["any.a[4].b", true],
    ["any.a.size() == 5 && any.a[3] == null", true],
    ["any.n == null", true],
    ["any.x", error("no such key: x")],
    ["any.a.x", error("unsupported index type 'string' in list")],
    ["any.a[0].x", error("no such key: x")],
    ["missing + 1", error("no such attribute(s): missing")],
    ["missing == 1 || true", true],
    ["[1, 2, 3][1]", 2n],
    ["dyn([1, 2])[1.0]", 2n],
    ["dyn([1, 2])[0.5]", error("unsupported index type 'double' in list")],
    ["{'a': 1}.a", 1n],
    ["{1: 'a', 2: 'b'}[2]", "b"],
    ["{true: 1}[true]", 1n],
    ["{'a': 1, 'a': 2}", error("Failed with repeated key: a")],
    ["size(self.tags) + size(self.labels) + size('é') + size(b'é')", 8n],
    ["Inner{n: 1}.n", 1n],
    ["Inner{n: 1} == Inner{n: 1}", true],
    ["has(Inner{}.n)", false],
  ])("%s", (text, want) => {
    expect(evaluated(text)).toEqual(want);
  });
});

describe("comprehensions", () => {
  it.each<[string, unknown]>([
    ["self.tags.all(x, x.size() > 0)", true],
    ["self.tags.exists(x, x == 'must')", true],
    ["[1, 2, 3].exists_one(x, x > 2) && ![1, 2, 3].exists_one(x, x > 1)", true],
    ["[1, 2, 3].map(x, x * 2)", [2n, 4n, 6n]],
    ["[1, 2, 3].map(x, x > 1, x * 2)", [4n, 6n]],
    ["[1, 2, 3].filter(x, x % 2 == 1)", [1n, 3n]],
    ["[[1, 2], [3]].map(x, x.map(y, y + 1))", [[2n, 3n], [4n]]],
    ["{'a': 1, 'b': 2}.map(k, k)", ["a", "b"]],
    ["{'a': 1}.all(k, k == 'a')", true],
    ["[].all(x, false) && ![].exists(x, true)", true],
    ["[1, 0].map(x, 1 / x)", error("division by zero")],
    ["any.a.filter(x, type(x) == int)", [1n]],
    ["dyn(1).map(x, x)", error("no such overload")],
    ["['a', 'b'].all(i, v, i < 2 && v != '')", true],
    ["{'a': 1}.exists(k, v, k == 'a' && v == 1)", true],
    ["['a', 'a'].existsOne(i, v, v == 'a')", false],
    ["['a', 'b'].transformList(i, v, i > 0, v + 'x')", ["bx"]],
    ["{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v * 10)", entries({ b: 20n })],
    ["{'a': 'x'}.transformMapEntry(k, v, {v: k})", entries({ x: "a" })],
    ["{'a': 'x', 'b': 'x'}.transformMapEntry(k, v, {v: k})", error("insert failed: key x already exists")],
    ["[1].map(x, [2].map(x, x + 1)[0] + x)", [4n]],
    ["cel.bind(x, [1, 2], x + x)", [1n, 2n, 1n, 2n]],
    ["cel.bind(x, 1 / 0, true)", true],
    ["[1, 2].map(i, cel.bind(y, i * 10, y + y))", [20n, 40n]],
  ])("%s", (text, want) => {
    expect(evaluated(text)).toEqual(want);
  });
});

describe("optionals", () => {
  it.each<[string, unknown]>([
    ["optional.of(1)", { some: 1n }],
    ["optional.none()", "none"],
    ["optional.ofNonZeroValue('')", "none"],
    ["optional.ofNonZeroValue(0).hasValue() || optional.ofNonZeroValue([]).hasValue()", false],
    ["optional.none().value()", error("optional.none() dereference")],
    ["self.?inner.n", { some: 7n }],
    ["self.items[?1].?n.orValue(9)", 9n],
    ["self.items[?9].?n", "none"],
    ["self.labels[?'app'].value()", "web"],
    ["any.?x.y.z", "none"],
    ["has(self.?inner.n)", true],
    ["optional.none().or(optional.of(2)).value()", 2n],
    ["optional.of(1).or(optional.of(1 / 0)).value()", 1n],
    ["optional.of(1).orValue(1 / 0)", 1n],
    ["optional.of(null).orValue(null) == null", true],
    ["optional.of(2).optMap(x, x * x)", { some: 4n }],
    ["optional.none().optMap(x, x)", "none"],
    ["optional.of(2).optFlatMap(x, optional.of(x + 1))", { some: 3n }],
    ["[?optional.none(), ?optional.of(1), 2]", [1n, 2n]],
    ["{?'a': optional.none(), ?'b': optional.of(1)}", entries({ b: 1n })],
    [
      "optional.of(1) == optional.of(1) && optional.none() == optional.none() && optional.of(1) != optional.none()",
      true,
    ],
    ["[optional.of(1), optional.none()].unwrapOpt()", [1n]],
    ["[1, 2].first().value() + [1, 2].last().value()", 3n],
  ])("%s", (text, want) => {
    expect(evaluated(text)).toEqual(want);
  });
});

describe("functions", () => {
  it.each<[string, unknown]>([
    ["'abc'.contains('b') && 'abc'.startsWith('ab') && 'abc'.endsWith('bc') && !'abc'.contains('x')", true],
    ["'abc'.matches('^[a-c]+$') && matches('xay', 'a') && !'b'.matches('a')", true],
    ["'a'.matches(dyn('('))", error("error parsing regexp: missing closing ): `(`")],
    ["int('42') + int(1.9) + int(2u) + int(timestamp('1970-01-01T00:00:01Z'))", 46n],
    ["int('x')", error("type conversion error from 'string' to 'int'")],
    ["int('9223372036854775808')", error("type conversion error from 'string' to 'int'")],
    ["int(1e19)", error("integer overflow")],
    ["uint(-1)", error("unsigned integer overflow")],
    ["uint('7') + uint(1.5)", { uint: 8n }],
    ["double('1.5') + double(1) + double(2u)", 4.5],
    ["double('x')", error("type conversion error from 'string' to 'double'")],
    ["bool('true') && !bool('0')", true],
    ["bool('yes')", error("type conversion error from 'string' to 'bool'")],
    [
      "string(1) + string(1u) + string(true) + string(1.5) + string(b'x') + string(1000000.0) + string(0.00001)",
      "11true1.5x1e+061e-05",
    ],
    ["string(b'\\xff')", error("invalid UTF-8 in bytes, cannot convert to string")],
    ["bytes('é')", { bytes: [195, 169] }],
    ["string(duration('1h30m')) + string(duration('1.5s'))", "5400s1.5s"],
    ["string(timestamp('2009-02-13T23:31:30.5Z'))", "2009-02-13T23:31:30.5Z"],
    ["string(timestamp('2009-02-13T23:31:30+01:00'))", "2009-02-13T23:31:30+01:00"],
    ["timestamp('2009-02-13T23:31:30+01:00') == timestamp('2009-02-13T22:31:30Z')", true],
    ["timestamp(dyn('x'))", error("type conversion error from 'string' to 'google.protobuf.Timestamp'")],
    ["duration(dyn('x'))", error("type conversion error from 'string' to 'google.protobuf.Duration'")],
    ["timestamp('2009-02-13T23:31:30Z') + duration('1h')", "2009-02-14T00:31:30Z"],
    ["timestamp('2009-02-13T23:31:30Z') - timestamp('2009-02-13T23:31:00Z') == duration('30s')", true],
    ["timestamp('9999-12-31T23:59:59Z') + duration('1s')", error("timestamp overflow")],
    ["duration('2562047h') + duration('2562047h')", error("duration overflow")],
    ["duration('1h') > duration('59m')", true],
    [
      "[timestamp('2024-02-29T13:14:15.678Z')].map(t, [t.getFullYear(), t.getMonth(), t.getDate(), t.getDayOfMonth(), t.getDayOfWeek(), t.getDayOfYear()])[0]",
      [2024n, 1n, 29n, 28n, 4n, 59n],
    ],
    [
      "[timestamp('2024-02-29T13:14:15.678Z')].map(t, [t.getHours(), t.getMinutes(), t.getSeconds(), t.getMilliseconds()])[0]",
      [13n, 14n, 15n, 678n],
    ],
    ["timestamp('2024-01-01T00:30:00Z').getFullYear('America/New_York')", 2023n],
    ["timestamp('2024-07-01T00:30:00Z').getHours('Europe/Berlin')", 2n],
    ["timestamp('2024-07-01T00:30:00Z').getMinutes('-02:15')", 15n],
    ["timestamp('2024-07-01T00:30:00Z').getMinutes('Mars/Base')", error("unknown time zone Mars/Base")],
    ["timestamp('0001-01-01T00:00:00Z').getDayOfYear()", 0n],
    [
      "duration('3723s').getHours() + duration('3723s').getMinutes() + duration('3723s').getSeconds()",
      1n + 62n + 3723n,
    ],
  ])("%s", (text, want) => {
    expect(evaluated(text)).toEqual(want);
  });
});

describe("a library", () => {
  const shout: Library = {
    name: "shout",
    functions: [
      fn(
        "shout",
        member("string_shout", [string], string, (text: string) => `${text.toUpperCase()}!`, fixedCost(7)),
        member(
          "string_shout_int",
          [string, int],
          string,
          (text: string, times: bigint) => text + "!".repeat(Number(times)),
          {
            refuses: ([, times]) => (typeof times === "bigint" && times < 0n ? "less than silence" : undefined),
          },
        ),
      ),
    ],
    constants: [{ name: "loud.limit", type: int, value: 3n }],
  };
  const extended = environment.extend({ libraries: [shout] });

  it.each<[string, unknown]>([
    ["'a'.shout()", { ok: true, value: "A!", cost: 7 }],
    ["'a'.shout(loud.limit)", { ok: true, value: "a!!!", cost: 1 }],
    ["dyn('a').shout() + dyn('b').shout(1)", { ok: true, value: "A!b!", cost: 9 }],
    ["dyn(1).shout()", { ok: false, error: "no such overload: shout(int)", cost: 1, exhausted: false }],
  ])("adds functions and constants: %s", (text, want) => {
    const compiled = extended.compile(text);
    expect(compiled.ok ? compiled.program.evaluate(variables) : compiled.issues).toEqual(want);
  });

  it("may refuse literals that can only fail", () => {
    expect(extended.compile("'a'.shout(-1)")).toEqual({ ok: false, issues: "less than silence", stage: "program" });
    expect(extended.compile("'a'.shout(self.min)").ok).toBe(true);
    expect(environment.compile("'a'.shout(1)")).toMatchObject({ ok: false, stage: "check" });
  });
});

describe("a program", () => {
  it("tells which variables it refers to", () => {
    const compiled = environment.compile("self.min < 1 && [1].all(any, any > 0)");
    expect(compiled.ok && [...compiled.uses]).toEqual(["self"]);
  });

  it("asks for a variable when it needs it, once", () => {
    let asked = 0;
    const compiled = environment.compile("false && any == 1 || any == 2 || any == 3");
    const any = () => {
      asked++;
      return 3;
    };
    expect(compiled.ok && compiled.program.evaluate({ any })).toMatchObject({ ok: true, value: true });
    expect(asked).toBe(1);
  });

  it("can be run again and again, within itself too", () => {
    const compiled = environment.compile("self.tags.map(x, x + self.name)");
    if (!compiled.ok) throw new Error(compiled.issues);
    const once = compiled.program.evaluate(variables);
    expect(compiled.program.evaluate(variables)).toEqual(once);
  });

  it("reads what JSON holds under any name", () => {
    const compiled = environment.compile("any.constructor == 'x' && has(any.__proto__) == false");
    expect(compiled.ok && compiled.program.evaluate({ any: JSON.parse('{"constructor": "x"}') })).toMatchObject({
      value: true,
    });
  });
});
