import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as types from "../values/type.ts";
import { celEnvironment } from "./environment.ts";

const environment = celEnvironment({ variables: { l: types.list(types.int), s: types.string } });
const l = Array.from({ length: 10_000 }, (_, index) => index);

function run(text: string, budget: number) {
  const compiled = environment.compile(text);
  if (!compiled.ok) throw new Error(compiled.issues);
  return compiled.program.evaluate({ l, s: "x".repeat(100_000) }, { budget });
}

describe("an evaluation ends with its budget", () => {
  it.each([
    ["nested loops", "l.all(a, l.all(b, l.all(c, l.all(d, true))))"],
    ["loops that make lists", "l.map(a, l.map(b, l.map(c, [a, b, c])))"],
    ["loops that cost nothing", "l.exists_one(a, l.exists_one(b, l.exists_one(c, false)))"],
    ["a loop that absorbs errors", "l.all(a, l.exists(b, l[b] / 0 == a))"],
    ["long strings", "l.all(a, s + s != s)"],
    ["regular expressions", "l.exists(a, s.matches('(x+x+)+y'))"],
  ])("%s", (_, text) => {
    expect(run(text, 100_000)).toMatchObject({
      ok: false,
      exhausted: true,
      error: "operation cancelled: actual cost limit exceeded",
    });
  });

  it("to the unit", () => {
    const text = "l.size() == 10000 && s.size() > 1";
    const { cost } = run(text, 1000);
    expect(run(text, cost)).toMatchObject({ ok: true, value: true });
    expect(run(text, cost - 1)).toMatchObject({ ok: false, exhausted: true });
  });

  it("and nothing absorbs that", () => {
    expect(run("true || l.all(x, true)", 2)).toMatchObject({ ok: true });
    expect(run("l.all(x, true) || true", 100)).toMatchObject({ exhausted: true });
  });
});

/** Expressions of any shape, most of which compile. */
const expression: fc.Memo<string> = fc.memo((depth) => {
  const leaf = fc.constantFrom(
    "1",
    "0",
    "l",
    "s",
    "'a'",
    "true",
    "[1, 2]",
    "{'a': 1}",
    "null",
    "x",
    "dyn(s)",
    "dyn(l)",
  );
  if (depth <= 1) return leaf;
  const inner = expression(depth - 1);
  return fc.oneof(
    leaf,
    fc
      .tuple(inner, fc.constantFrom("+", "-", "/", "<", "==", "&&", "||", "in"), inner)
      .map(([a, o, b]) => `(${a} ${o} ${b})`),
    fc.tuple(inner, inner, inner).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    fc
      .tuple(inner, fc.constantFrom("all", "exists", "exists_one", "map", "filter"), inner)
      .map(([a, m, b]) => `${a}.${m}(x, ${b})`),
    fc.tuple(inner, inner).map(([a, b]) => `${a}[${b}]`),
    inner.map((a) => `size(${a})`),
    inner.map((a) => `dyn(${a})`),
    inner.map((a) => `has(${a}.b)`),
  );
});

describe("any expression", () => {
  it("compiles to issues or to a program that ends within its budget, or with one unit more than it may", () => {
    fc.assert(
      fc.property(expression(5), (text) => {
        const compiled = environment.compile(text);
        if (!compiled.ok) return;
        const result = compiled.program.evaluate({ l: [1, 2, 3], s: "abc" }, { budget: 1000 });
        expect(typeof result.cost).toBe("number");
        const { min, max } = compiled.estimate();
        expect(min).toBeLessThanOrEqual(max);
        if (result.ok) expect(result.cost).toBeLessThanOrEqual(1000);
      }),
      { numRuns: 2000 },
    );
  });
});
