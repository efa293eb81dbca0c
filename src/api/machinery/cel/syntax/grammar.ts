/**
 * Token types by their role in CEL's grammar: operators with the functions they call, and what may start an expression.
 */
import type { TokenType } from "./lexer.ts";

/** Reserved words. */
export const reserved = new Set(
  "as break const continue else false for function if import in let loop package namespace null return true var void while".split(
    " ",
  ),
);
export const relations = new Map<TokenType, string>([
  ["'<'", "_<_"],
  ["'<='", "_<=_"],
  ["'>='", "_>=_"],
  ["'>'", "_>_"],
  ["'=='", "_==_"],
  ["'!='", "_!=_"],
  ["'in'", "@in"],
]);
export const sums = new Map<TokenType, string>([
  ["'+'", "_+_"],
  ["'-'", "_-_"],
]);
export const products = new Map<TokenType, string>([
  ["'*'", "_*_"],
  ["'/'", "_/_"],
  ["'%'", "_%_"],
]);
export const numbers = new Set<TokenType>(["NUM_INT", "NUM_FLOAT"]);
export const literals = new Set<TokenType>([
  "'true'",
  "'false'",
  "'null'",
  "NUM_FLOAT",
  "NUM_INT",
  "NUM_UINT",
  "STRING",
  "BYTES",
]);
export const expressionStart: readonly TokenType[] = [
  "'['",
  "'{'",
  "'('",
  "'.'",
  "'-'",
  "'!'",
  ...literals,
  "IDENTIFIER",
];
/** What may follow the parenthesis of a call: its arguments, or their end. */
export const argumentStart: readonly TokenType[] = expressionStart.flatMap((type) =>
  type === "'('" ? [type, "')'" as const] : [type],
);

/** What may stand between the brackets of a list or map, including their end. */
export function itemStart(close: "']'" | "'}'"): readonly TokenType[] {
  return ["'['", "'{'", close, "'('", "'.'", "','", "'-'", "'!'", "'?'", ...literals, "IDENTIFIER"];
}

export function canStartExpression(type: TokenType): boolean {
  return expressionStart.includes(type);
}
