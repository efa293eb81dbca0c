/** What a macro is: a call that the parser replaces by another expression before anything else sees it. */
import type { Expr } from "./ast.ts";

export interface Macro {
  readonly name: string;
  /** `target.name(…)` instead of `name(…)`. */
  readonly member: boolean;
  readonly arguments: number | "any";
  /** Undefined: no macro after all, but an ordinary call. */
  readonly expand: (call: MacroCall) => Expr | MacroFault | undefined;
}

export interface MacroCall {
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
  /** Where the call stands. */
  readonly offset: number;
}

export class MacroFault {
  readonly message: string;
  readonly offset: number;

  constructor(message: string, offset: number) {
    this.message = message;
    this.offset = offset;
  }
}
