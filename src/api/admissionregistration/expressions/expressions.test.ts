import { describe, expect, it } from "vitest";
import { fn, global, types } from "../../machinery/cel/index.ts";
import { celLimits } from "../../machinery/cel/libraries/index.ts";
import type { Json } from "../../machinery/json/json.ts";
import { Activation, CostBudgetError, type ExpressionInput } from "./activation.ts";
import { base, compileExpression, compileIn, type Place, type Returns } from "./compile.ts";
import { Composition } from "./composition.ts";
import { matchConditions } from "./conditions.ts";

const input: ExpressionInput = {
  object: { metadata: { name: "a" }, list: Array.from({ length: 1000 }, (_, i) => i) as Json },
  oldObject: null,
  request: { operation: "CREATE" },
  namespaceObject: null,
  params: null,
};

describe("what an expression has to give", () => {
  it.each<[text: string, returns: Returns, fault: string, place?: Place]>([
    ["true", "bool", ""],
    ["1 + 1", "bool", "must evaluate to bool but got int"],
    ["object.x", "bool", "must evaluate to bool but got dyn"],
    ["null", "string", "must evaluate to string but got null_type"],
    ["'a'", "stringOrNull", ""],
    ["null", "stringOrNull", ""],
    ["[1]", "stringOrNull", "must evaluate to one of [string null_type] but got list(int)"],
    ["{'a': null}", "bool", "must evaluate to bool but got map(string, null_type)"],
    ["timestamp('2024-01-01T00:00:00Z')", "bool", "must evaluate to bool but got google.protobuf.Timestamp"],
    ["optional.of(1)", "bool", "must evaluate to bool but got optional_type(int)"],
    ["int", "bool", "must evaluate to bool but got type(int)"],
    ["{'a': 1}", "any", ""],
    ["Object{}", "object", "", { patches: true }],
    ["Object.spec{}", "object", "must evaluate to Object but got Object.spec", { patches: true }],
    ["[JSONPatch{}]", "patches", "", { patches: true }],
    ["[]", "patches", "must evaluate to list(JSONPatch) but got list(dyn)", { patches: true }],
  ])("%s as %s: %s", (text, returns, fault, place) => {
    const expression = compileExpression(text, returns, place);
    expect(expression.ok ? "" : expression.fault).toBe(fault);
  });

  it.each<[text: string, place: Place, name: string]>([
    ["params.x == 1", {}, "params"],
    ["authorizer.path('/').check('get').allowed()", { authorizer: false }, "authorizer"],
    ["variables.x == 1", {}, "variables"],
    ["JSONPatch{} == JSONPatch{}", {}, "JSONPatch"],
    ["Object{} == Object{}", {}, "Object"],
  ])("%s needs what is not there", (text, place, name) => {
    const expression = compileExpression(text, "bool", place);
    expect(expression.ok ? "" : expression.fault).toContain(
      `compilation failed: ERROR: <input>:1:1: undeclared reference to '${name}' (in container '')`.replace(
        "1:1",
        /1:\d+/.exec(expression.ok ? "" : expression.fault)?.[0] ?? "",
      ),
    );
  });

  it("may be something that cannot be run", () => {
    const never = global("never_bool", [], types.bool, () => true, { refuses: () => "never" });
    const environment = base().extend({ libraries: [{ name: "test", functions: [fn("never", never)] }] });
    expect(compileIn(environment, "never()", "bool")).toEqual({
      text: "never()",
      ok: false,
      internal: true,
      fault: "program instantiation failed: never",
    });
  });
});

describe("variables", () => {
  const evaluate = (variables: { name: string; expression: string }[], text: string, budget = 1_000_000) => {
    const composition = new Composition(variables, false);
    return new Activation(input, composition.variables).evaluate(composition.compile(text, "any"), budget);
  };

  it("are typed", () => {
    const composition = new Composition([{ name: "n", expression: "1" }], false);
    const expression = composition.compile("variables.n == 'x'", "bool");
    expect(expression.ok ? "" : expression.fault).toContain(
      "found no matching overload for '_==_' applied to '(int, string)'",
    );
  });

  it("are worked out once", () => {
    const variables = [{ name: "l", expression: "object.list.map(x, x + 1)" }];
    const once = 1_000_000 - evaluate(variables, "size(variables.l)").remaining;
    const thrice =
      1_000_000 - evaluate(variables, "size(variables.l) + size(variables.l) + size(variables.l)").remaining;
    expect(thrice - once).toBeLessThan(20);
  });

  it("are charged to the expression that reads them, which is stopped when it is too much", () => {
    const variables = [{ name: "l", expression: "object.list.map(x, x + 1)" }];
    const { remaining } = evaluate(variables, "size(variables.l)");
    expect(() => evaluate(variables, "size(variables.l)", 1_000_000 - remaining - 1)).toThrow(CostBudgetError);
    expect(evaluate(variables, "true", 10)).toMatchObject({ ok: true, value: true });
  });

  it("that do not compile are of any type, and say so when they are used", () => {
    expect(evaluate([{ name: "x", expression: "nope" }], "variables.x.y")).toMatchObject({
      ok: false,
      error: expect.stringContaining('composited variable "x" fails to compile: compilation failed'),
    });
  });
});

describe("conditions", () => {
  const costly = "object.list.all(x, object.list.all(y, x + y >= 0))";
  it.each<{ name: string; conditions: string[]; want: object }>([
    { name: "none", conditions: [], want: { matches: true } },
    { name: "all true", conditions: ["true", "object.metadata.name == 'a'"], want: { matches: true } },
    { name: "one false", conditions: ["true", "false"], want: { matches: false } },
    { name: "false beats a fault", conditions: ["object.none == 1", "false"], want: { matches: false } },
    {
      name: "a fault",
      conditions: ["true", "object.none == 1"],
      want: { error: "expression 'object.none == 1' resulted in error: no such key: none" },
    },
    {
      name: "two faults",
      conditions: ["object.a == 1", "object.b == 1"],
      want: {
        error:
          "[expression 'object.a == 1' resulted in error: no such key: a, expression 'object.b == 1' resulted in error: no such key: b]",
      },
    },
    {
      name: "too much together",
      conditions: [costly, costly, costly],
      want: { error: "validation failed due to running out of cost budget, no further validation rules will be run" },
    },
  ])("$name", ({ conditions, want }) => {
    const compiled = conditions.map((text) => compileExpression(text, "bool"));
    expect(matchConditions(compiled, new Activation(input), "Fail")).toEqual(want);
    const ignored = "error" in want ? { matches: false } : want;
    expect(matchConditions(compiled, new Activation(input), "Ignore")).toEqual(ignored);
  });
});

it("ends one evaluation that costs too much", () => {
  const text = "object.list.all(x, object.list.all(y, object.list.all(z, x + y + z >= 0)))";
  const evaluated = new Activation(input).evaluate(compileExpression(text, "bool"), celLimits.perObject);
  expect(evaluated).toMatchObject({
    ok: false,
    error: `expression '${text}' resulted in error: operation cancelled: actual cost limit exceeded`,
  });
  expect(evaluated.remaining).toBeLessThanOrEqual(celLimits.perObject - celLimits.perCall);
});
