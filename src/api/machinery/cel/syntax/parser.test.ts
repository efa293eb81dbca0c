import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Uint } from "../values/value.ts";
import type { Expr } from "./ast.ts";
import { parse } from "./parser.ts";
import { formatIssues } from "./source.ts";
import { standardMacros } from "./standard-macros.ts";
import { macroKey } from "./tree-builder.ts";

const macros = new Map(standardMacros.map((macro) => [macroKey(macro), macro]));
const start =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** As a term: calls by their names, literals as JavaScript writes them. */
function term(expr: Expr): string {
  switch (expr.kind) {
    case "literal":
      if (expr.value instanceof Uint) return `${expr.value.value}u`;
      if (expr.value instanceof Uint8Array) return `b[${expr.value.join(" ")}]`;
      return typeof expr.value === "string" ? JSON.stringify(expr.value) : String(expr.value);
    case "ident":
      return expr.name;
    case "select":
      return `${term(expr.operand)}.${expr.field}${expr.test ? "~" : ""}`;
    case "call":
      return `${expr.target === undefined ? "" : `${term(expr.target)}.`}${expr.name}(${expr.args.map(term).join(", ")})`;
    case "list":
      return `[${expr.items.map((item, index) => (expr.optional.has(index) ? "?" : "") + term(item)).join(", ")}]`;
    case "map":
      return `{${expr.entries.map(({ key, value, optional }) => `${optional ? "?" : ""}${term(key)}: ${term(value)}`).join(", ")}}`;
    case "struct":
      return `${expr.type}{${expr.fields.map(({ name, value, optional }) => `${optional ? "?" : ""}${name}: ${term(value)}`).join(", ")}}`;
    case "comprehension":
      return `fold(${expr.variable} in ${term(expr.range)}: ${term(expr.init)} while ${term(expr.condition)} = ${term(expr.step)} -> ${term(expr.result)})`;
  }
}

function parsed(text: string): string {
  const result = parse(text, macros);
  return result.ok ? term(result.expr) : formatIssues(text, result.issues);
}

describe("expressions", () => {
  it.each([
    ["1 + 2 * 3 - 1 / 2 == 6 % 1", "_==_(_-_(_+_(1, _*_(2, 3)), _/_(1, 2)), _%_(6, 1))"],
    ["a && b || c", "_||_(_&&_(a, b), c)"],
    ["a && b && c && d", "_&&_(_&&_(a, b), _&&_(c, d))"],
    ["a ? b : c ? d : e", "_?_:_(a, b, _?_:_(c, d, e))"],
    ["!a", "!_(a)"],
    ["!!a", "a"],
    ["-1", "-1"],
    ["- -1", "1"],
    ["---a", "-_(a)"],
    ["-9223372036854775808", "-9223372036854775808"],
    ["-x.foo[0]", "-_(_[_](x.foo, 0))"],
    ["!-2.V", "!_(-2.V)"],
    ["0xFu", "15u"],
    ["0x10", "16"],
    ["1.5e3", "1500"],
    [".5", "0.5"],
    [
      "1.all(x, true)".replace("1.", "a."),
      "fold(x in a: true while @not_strictly_false(@result) = _&&_(@result, true) -> @result)",
    ],
    ["has(a.b.c)", "a.b.c~"],
    ["a.b(c, d)", "a.b(c, d)"],
    [".a.b", ".a.b"],
    ["a.?b[?0]", '_[?_](_?._(a, "b"), 0)'],
    ["[?a, b,]", "[?a, b]"],
    ["{?'k': v, 1: 2,}", '{?"k": v, 1: 2}'],
    ["a.b.C{x: 1, ?y: z}", "a.b.C{x: 1, ?y: z}"],
    ["a.`b-c`", "a.b-c"],
    ["x in ['a']", '@in(x, ["a"])'],
    ["a // comment\n + b", "_+_(a, b)"],
    [`'a"b' + "it's"`, `_+_("a\\"b", "it's")`],
    [`r'\\d' + R"\\n"`, '_+_("\\\\d", "\\\\n")'],
    [`'''a\n'b'''`, '"a\\n\'b"'],
    [`"""a"b"""`, '"a\\"b"'],
    [`'\\x41\\u0042\\U00000043\\104\\n\\?'`, '"ABCD\\n?"'],
    [`b'a\\xff\\u00e9é'`, "b[97 255 195 169 195 169]"],
    [`br'\\x'`, "b[92 120]"],
    ["'😁'.size()", '"😁".size()'],
  ])("%s", (text, want) => {
    expect(parsed(text)).toBe(want);
  });
});

describe("faults", () => {
  it.each([
    ["", [`1:0: Syntax error: mismatched input '<EOF>' expecting ${start}`]],
    ["../x", ["1:2: Syntax error: no viable alternative at input '..'", " | ../x", " | .^"]],
    ["1 +", [`1:4: Syntax error: mismatched input '<EOF>' expecting ${start}`, " | 1 +", " | ...^"]],
    [
      "1 + +",
      [
        `1:5: Syntax error: mismatched input '+' expecting ${start}`,
        " | 1 + +",
        " | ....^",
        `ERROR: <input>:1:6: Syntax error: mismatched input '<EOF>' expecting ${start}`,
        " | 1 + +",
        " | .....^",
      ],
    ],
    [
      "1 + $",
      [
        "1:5: Syntax error: token recognition error at: '$'",
        " | 1 + $",
        " | ....^",
        `ERROR: <input>:1:6: Syntax error: mismatched input '<EOF>' expecting ${start}`,
        " | 1 + $",
        " | .....^",
      ],
    ],
    ["1 + 2\n3 +", ["2:1: Syntax error: mismatched input '3' expecting <EOF>", " | 3 +", " | ^"]],
    ["a b", ["1:3: Syntax error: extraneous input 'b' expecting <EOF>", " | a b", " | ..^"]],
    ["self.", ["1:6: Syntax error: no viable alternative at input '.'", " | self.", " | .....^"]],
    [`{"a": 1}."a"`, [`1:10: Syntax error: no viable alternative at input '."a"'`, ` | {"a": 1}."a"`, " | .........^"]],
    [
      "self.true == 1",
      ["1:6: Syntax error: mismatched input 'true' expecting IDENTIFIER", " | self.true == 1", " | .....^"],
    ],
    ["(a", ["1:3: Syntax error: missing ')' at '<EOF>'", " | (a", " | ..^"]],
    [
      "{1:305 2:569}",
      ["1:8: Syntax error: mismatched input '2' expecting {'}', ','}", " | {1:305 2:569}", " | .......^"],
    ],
    ["foo(a,b,)", [`1:9: Syntax error: mismatched input ')' expecting ${start}`, " | foo(a,b,)", " | ........^"]],
    [
      "nope(",
      [
        `1:6: Syntax error: mismatched input '<EOF>' expecting ${start.replace("'('", "'(', ')'")}`,
        " | nope(",
        " | .....^",
      ],
    ],
    ["{a}", ["1:3: Syntax error: mismatched input '}' expecting ':'", " | {a}", " | ..^"]],
    ["f(a])", ["1:4: Syntax error: extraneous input ']' expecting ')'", " | f(a])", " | ...^"]],
    [
      "{",
      [
        "1:2: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '}', '(', '.', ',', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
        " | {",
        " | .^",
      ],
    ],
    [
      "in",
      [
        `1:1: Syntax error: mismatched input 'in' expecting ${start}`,
        " | in",
        " | ^",
        `ERROR: <input>:1:3: Syntax error: mismatched input '<EOF>' expecting ${start}`,
        " | in",
        " | ..^",
      ],
    ],
    [
      "--",
      [
        "1:3: Syntax error: no viable alternative at input '-'",
        " | --",
        " | ..^",
        `ERROR: <input>:1:3: Syntax error: mismatched input '<EOF>' expecting ${start}`,
        " | --",
        " | ..^",
      ],
    ],
    [
      "*@a | b",
      [
        `1:1: Syntax error: extraneous input '*' expecting ${start}`,
        " | *@a | b",
        " | ^",
        "ERROR: <input>:1:2: Syntax error: token recognition error at: '@'",
        " | *@a | b",
        " | .^",
        "ERROR: <input>:1:5: Syntax error: token recognition error at: '| '",
        " | *@a | b",
        " | ....^",
        "ERROR: <input>:1:7: Syntax error: extraneous input 'b' expecting <EOF>",
        " | *@a | b",
        " | ......^",
      ],
    ],
    [
      `"\\xFh"`,
      [
        `1:1: Syntax error: token recognition error at: '"\\xFh'`,
        ` | "\\xFh"`,
        " | ^",
        `ERROR: <input>:1:6: Syntax error: token recognition error at: '"'`,
        ` | "\\xFh"`,
        " | .....^",
        `ERROR: <input>:1:7: Syntax error: mismatched input '<EOF>' expecting ${start}`,
        ` | "\\xFh"`,
        " | ......^",
      ],
    ],
    ["while", ["1:1: reserved identifier: while", " | while", " | ^"]],
    ["a.all(1, true)", ["1:7: argument must be a simple name", " | a.all(1, true)", " | ......^"]],
    ["a.map(1, true)", ["1:7: argument is not an identifier", " | a.map(1, true)", " | ......^"]],
    ["has(a)", ["1:5: invalid argument to has() macro", " | has(a)", " | ....^"]],
    ["0xFFFFFFFFFFFFFFFFF", ["1:1: invalid int literal", " | 0xFFFFFFFFFFFFFFFFF", " | ^"]],
    ["18446744073709551616u", ["1:1: invalid uint literal", " | 18446744073709551616u", " | ^"]],
    ["1.99e90000009", ["1:1: invalid double literal", " | 1.99e90000009", " | ^"]],
    ["'\\udead'", ["1:1: invalid unicode code point", " | '\\udead'", " | ^"]],
    ["'é' + $", ["1:7: Syntax error: token recognition error at: '$'", " | 'é' + $", " | .．....^"]],
  ])("%j", (text, lines) => {
    expect(parsed(text).split("\n").slice(0, lines.length).join("\n")).toBe(`ERROR: <input>:${lines.join("\n")}`);
  });
});

describe("limits", () => {
  const deep = "ERROR: <input>:-1:0: expression recursion limit exceeded: 250";
  const tall = "ERROR: <input>:-1:0: max recursion depth exceeded";
  it.each([
    ["nested lists", `${"[".repeat(300)}1${"]".repeat(300)}`, deep],
    ["nested parentheses", `${"(".repeat(300)}1${")".repeat(300)}`, deep],
    ["nested choices", `${"a ? b : ".repeat(300)}c`, deep],
    ["unclosed brackets", "[".repeat(50_000), deep],
    ["a long sum", `1${" + 1".repeat(300)}`, tall],
    ["many fields", `a${".b".repeat(300)}`, tall],
    ["many comparisons", `a${" < 1".repeat(300)}`, tall],
    [
      "long text",
      "a".repeat(100_001),
      "ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000",
    ],
  ])("%s", (_, text, want) => {
    expect(parsed(text)).toBe(want);
  });

  it("takes long chains of && and ||, which do not nest", () => {
    expect(parse(`a${" && a".repeat(5000)} || b`, macros).ok).toBe(true);
  });
});

describe("any text", () => {
  const token = fc.constantFrom(
    ..."a b x 1 1u 1.5 'a' b'a' true null in . .? [ [? ] { } ( ) , : ? + - * / % ! == < && || has( .all( .map( ` \" ' \\ $ 😁 \n".split(
      " ",
    ),
  );

  it("gives a tree or issues", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(token, { maxLength: 40 }).map((parts) => parts.join(" ")),
        ),
        (text) => {
          const result = parse(text, macros);
          if (!result.ok) expect(formatIssues(text, result.issues)).toMatch(/^ERROR: <input>:/);
        },
      ),
      { numRuns: 3000 },
    );
  });
});
