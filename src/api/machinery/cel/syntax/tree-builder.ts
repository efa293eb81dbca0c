/** Makes the nodes of the tree: expands macros, and limits how deep the tree gets. */
import type { Call, Expr } from "./ast.ts";
import { type Macro, MacroFault } from "./macro.ts";
import type { Issue } from "./source.ts";

export interface ParserLimits {
  readonly codePoints: number;
  readonly depth: number;
}

export const defaultLimits: ParserLimits = { codePoints: 100_000, depth: 250 };

/** By `macroKey`. */
export type Macros = ReadonlyMap<string, Macro>;

export function macroKey(macro: Pick<Macro, "name" | "member" | "arguments">): string {
  return `${macro.member ? "." : ""}${macro.name}/${macro.arguments}`;
}

/** Ends the parsing of an expression that nests too deep. */
export class TooDeep {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export class TreeBuilder {
  private readonly depths = new WeakMap<Expr, number>();
  private readonly macros: Macros;
  private readonly maxDepth: number;
  private readonly issues: Issue[];

  /** `issues` collects the faults of macros. */
  constructor(macros: Macros, maxDepth: number, issues: Issue[]) {
    this.macros = macros;
    this.maxDepth = maxDepth;
    this.issues = issues;
  }

  call(offset: number, name: string, args: readonly Expr[], deepens: boolean, target?: Expr): Expr {
    const expanded = this.expanded(offset, name, args, target);
    const children = target === undefined ? args : [target, ...args];
    const call: Call = { kind: "call", name, target, args, offset };
    return this.node(expanded ?? call, children, deepens);
  }

  private expanded(offset: number, name: string, args: readonly Expr[], target: Expr | undefined): Expr | undefined {
    const member = target !== undefined;
    const macro =
      this.macros.get(macroKey({ name, member, arguments: args.length })) ??
      this.macros.get(macroKey({ name, member, arguments: "any" }));
    const result = macro?.expand({ target, args, offset });
    if (!(result instanceof MacroFault)) return result;
    this.issues.push({ message: result.message, offset: result.offset });
    return { kind: "literal", value: null, offset };
  }

  /** Tracks the depth of the tree. */
  node(expr: Expr, children: readonly Expr[], deepens = true): Expr {
    let depth = deepens ? 1 : 0;
    for (const child of children) depth = Math.max(depth, (this.depths.get(child) ?? 0) + (deepens ? 1 : 0));
    if (depth > this.maxDepth) throw new TooDeep("max recursion depth exceeded");
    if (depth > (this.depths.get(expr) ?? 0)) this.depths.set(expr, depth);
    return expr;
  }
}
