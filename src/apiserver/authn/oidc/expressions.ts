/** Expressions in an AuthenticationConfiguration, which map and check claims. */
import type { Json, JsonObject } from "#api";

/** The result of an expression, or the reason why there is none. */
export type Evaluated = { readonly value: Json } | { readonly error: string };

export type Compiled = { readonly evaluate: (input: JsonObject) => Evaluated } | { readonly fault: string };

export interface ExpressionCompiler {
  /** With the variable `claims`. `bool`: its type is checked when it is compiled. */
  claims(expression: string, returns: "bool" | "any"): Compiled;
  /** With the variable `user`; it has to be a bool. */
  user(expression: string): Compiled;
  /** Whether the expression uses this claim. */
  selectsClaim(expression: string, claim: string): boolean;
}
