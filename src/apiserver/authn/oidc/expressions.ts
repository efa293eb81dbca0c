/** Expressions in an AuthenticationConfiguration: what maps and checks claims where naming one is not enough. */
import type { Json, JsonObject } from "#api";

/** What comes out of an expression: plain values, or why there is none. */
export type Evaluated = { readonly value: Json } | { readonly error: string };

export type Compiled = { readonly evaluate: (input: JsonObject) => Evaluated } | { readonly fault: string };

export interface ExpressionCompiler {
  /** With the variable `claims`. `bool`: it has to be one, which is known before it runs. */
  claims(expression: string, returns: "bool" | "any"): Compiled;
  /** With the variable `user`; it has to be a bool. */
  user(expression: string): Compiled;
  /** Whether the expression looks at this claim. */
  selectsClaim(expression: string, claim: string): boolean;
}
