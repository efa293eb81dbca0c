/** A macro: a call that the parser replaces by another expression. */
import type { Expr } from "./ast.ts";

export interface Macro {
  readonly name: string;
  /** `target.name(…)` instead of `name(…)`. */
  readonly member: boolean;
  readonly arguments: number | "any";
  /** Undefined: not a macro, but an ordinary call. */
  readonly expand: (call: MacroCall) => Expr | MacroFault | undefined;
}

export interface MacroCall {
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
  /** The offset of the call. */
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
