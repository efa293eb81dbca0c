/**
 * The tree of an expression, macros expanded.
 *
 * 1. Each node has the offset (in UTF-16 code units of the text) at which messages about it point.
 * 2. Nodes are identities: the checker keeps its results in maps of its own.
 */
import type { Value } from "../values/value.ts";

export type Expr = Literal | Ident | Select | Call | ListExpr | MapExpr | StructExpr | Comprehension;

interface Node {
  readonly offset: number;
}
export interface Literal extends Node {
  readonly kind: "literal";
  readonly value: Value;
}
/** `a`, or `.a` for a name that no container and no comprehension variable hides. */
export interface Ident extends Node {
  readonly kind: "ident";
  readonly name: string;
}
/** `operand.field`, or `has(operand.field)`. */
export interface Select extends Node {
  readonly kind: "select";
  readonly operand: Expr;
  readonly field: string;
  readonly test: boolean;
}
/** A function, or an operator by its internal name: `_+_`, `_?_:_`, `_[_]`, … */
export interface Call extends Node {
  readonly kind: "call";
  readonly name: string;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
}
export interface ListExpr extends Node {
  readonly kind: "list";
  readonly items: readonly Expr[];
  /** Indexes of items written as `?item`. */
  readonly optional: ReadonlySet<number>;
}
export interface MapExpr extends Node {
  readonly kind: "map";
  readonly entries: readonly Entry[];
}
export interface Entry extends Node {
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}
/** `Type{field: value}`. */
export interface StructExpr extends Node {
  readonly kind: "struct";
  readonly type: string;
  readonly fields: readonly FieldInit[];
}
export interface FieldInit extends Node {
  readonly name: string;
  readonly value: Expr;
  readonly optional: boolean;
}
/**
 * A fold: `accu = init; for (var in range) { if (!condition) break; accu = step } return result`. With
 * `secondVariable`, the first one is the index or key and the second one the item or value.
 */
export interface Comprehension extends Node {
  readonly kind: "comprehension";
  readonly range: Expr;
  readonly variable: string;
  readonly secondVariable: string | undefined;
  readonly accumulator: string;
  readonly init: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}
