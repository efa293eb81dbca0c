/** A checked expression: the type of each node, and what each name and call refers to. */
import type { Overload } from "../functions/function.ts";
import type { Expr } from "../syntax/ast.ts";
import type { Issue } from "../syntax/source.ts";
import type { ObjectType, Type } from "../values/type.ts";
import type { Value } from "../values/value.ts";

export type Reference =
  /** A variable of the environment. */
  | { readonly kind: "variable"; readonly name: string }
  /** A variable of a comprehension. */
  | { readonly kind: "local"; readonly name: string }
  | { readonly kind: "constant"; readonly value: Value }
  | {
      readonly kind: "call";
      readonly name: string;
      readonly overloads: readonly Overload[];
      /** The target of a member function comes first. */
      readonly args: readonly Expr[];
    }
  | { readonly kind: "struct"; readonly type: ObjectType };

export interface Checked {
  readonly expr: Expr;
  readonly types: ReadonlyMap<Expr, Type>;
  readonly references: ReadonlyMap<Expr, Reference>;
  readonly issues: readonly Issue[];
}
