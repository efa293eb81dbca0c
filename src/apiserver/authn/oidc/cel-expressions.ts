/**
 * Expressions in CEL: `claims` is a map of the token's claims, `user` the user made of them.
 *
 * 1. The CEL environment is created with the first expression: most clusters have none.
 * 2. Expressions come from administrators and run on signed claims; their cost is bounded all the same.
 */
import { cel, celLibraries, type Json, type JsonObject } from "#api";
import type { Compiled, Evaluated, ExpressionCompiler } from "./expressions.ts";

const { types } = cel;
const CLAIMS = types.map(types.string, types.dyn);
const strings = types.list(types.string);
const USER = types.object(
  "kubernetes.UserInfo",
  new Map(
    Object.entries({
      username: types.string,
      uid: types.string,
      groups: strings,
      extra: types.map(types.string, strings),
    }).map(([json, type]) => [json, { json, type }]),
  ),
);

export function celExpressions(): ExpressionCompiler {
  let base: cel.Environment | undefined;
  const environment = (variables: Readonly<Record<string, cel.types.Type>>) => {
    base ??= celLibraries.baseEnvironment();
    return base.extend({ variables });
  };
  return {
    claims: (expression, returns) => compiled(environment({ claims: CLAIMS }), expression, returns),
    user: (expression) => compiled(environment({ user: USER }), expression, "bool"),
    selectsClaim,
  };
}

function compiled(environment: cel.Environment, expression: string, returns: "bool" | "any"): Compiled {
  const compilation = environment.compile(expression);
  if (!compilation.ok) return { fault: `compilation failed: ${compilation.issues}` };
  const { program, type } = compilation;
  if (returns === "bool" && type.kind !== "bool") return { fault: "must evaluate to bool" };
  return { evaluate: (input) => evaluated(program, input) };
}

function evaluated(program: cel.Program, input: JsonObject): Evaluated {
  const result = program.evaluate(input, { budget: celLibraries.celLimits.perCall });
  if (!result.ok) return { error: result.error };
  const value = cel.toJson(result.value);
  return value instanceof cel.CelError ? { error: value.message } : { value: value satisfies Json };
}

/**
 * `claims.NAME`, `claims.?NAME` or `has(claims.NAME)`, outside of strings. Claims in brackets are not found, as in
 * Kubernetes.
 */
function selectsClaim(expression: string, claim: string): boolean {
  const withoutTexts = expression.replace(/"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/g, '""');
  return new RegExp(`(?<![\\w.])claims\\s*\\.\\s*\\??\\s*${claim}(?!\\w)`).test(withoutTexts);
}
