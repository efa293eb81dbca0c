/** The macros of the language: has, all, exists, exists_one, map, filter. */

import type { Value } from "../values/value.ts";
import type { Call, Comprehension, Expr, Ident, Literal } from "./ast.ts";
import { type Macro, type MacroCall, MacroFault } from "./macro.ts";

/** Users cannot write this name, so it hides nothing and nothing hides it. */
export const accumulator = "@result";
/** The name of an unused comprehension variable. */
export const unused = "#unused";

/** Nodes at the offset of the macro call. */
export class Builder {
  private readonly offset: number;

  constructor(offset: number) {
    this.offset = offset;
  }

  literal(value: Value): Literal {
    return { kind: "literal", value, offset: this.offset };
  }

  ident(name: string): Ident {
    return { kind: "ident", name, offset: this.offset };
  }

  call(name: string, ...args: readonly Expr[]): Call {
    return { kind: "call", name, target: undefined, args, offset: this.offset };
  }

  memberCall(target: Expr, name: string, ...args: readonly Expr[]): Call {
    return { kind: "call", name, target, args, offset: this.offset };
  }

  list(...items: readonly Expr[]): Expr {
    return { kind: "list", items, optional: new Set(), offset: this.offset };
  }

  emptyMap(): Expr {
    return { kind: "map", entries: [], offset: this.offset };
  }

  select(operand: Expr, field: string): Expr {
    return { kind: "select", operand, field, test: true, offset: this.offset };
  }

  fold(
    parts: Omit<Comprehension, "kind" | "offset" | "secondVariable" | "accumulator"> & Partial<Comprehension>,
  ): Expr {
    return { secondVariable: undefined, accumulator, ...parts, kind: "comprehension", offset: this.offset };
  }

  /** `result` with a name for a value. */
  bind(name: string, value: Expr, result: Expr): Expr {
    return this.fold({
      variable: unused,
      range: this.list(),
      accumulator: name,
      init: value,
      condition: this.literal(false),
      step: this.ident(name),
      result,
    });
  }

  /** A fresh node for the accumulator at each use. */
  get accu(): Ident {
    return this.ident(accumulator);
  }
}

/** The predicate over the variables of a fold. Shared by all, exists and exists_one with one and two variables. */
export type Variables = Pick<Comprehension, "variable" | "secondVariable">;

export function all(make: Builder, range: Expr, variables: Variables, predicate: Expr): Expr {
  return make.fold({
    ...variables,
    range,
    init: make.literal(true),
    condition: make.call("@not_strictly_false", make.accu),
    step: make.call("_&&_", make.accu, predicate),
    result: make.accu,
  });
}

export function exists(make: Builder, range: Expr, variables: Variables, predicate: Expr): Expr {
  return make.fold({
    ...variables,
    range,
    init: make.literal(false),
    condition: make.call("@not_strictly_false", make.call("!_", make.accu)),
    step: make.call("_||_", make.accu, predicate),
    result: make.accu,
  });
}

export function existsOne(make: Builder, range: Expr, variables: Variables, predicate: Expr): Expr {
  return make.fold({
    ...variables,
    range,
    init: make.literal(0n),
    condition: make.literal(true),
    step: make.call("_?_:_", predicate, make.call("_+_", make.accu, make.literal(1n)), make.accu),
    result: make.call("_==_", make.accu, make.literal(1n)),
  });
}

/** Collects the results of `transform` for the items that pass the filter. */
export function collect(
  make: Builder,
  range: Expr,
  variables: Variables,
  filter: Expr | undefined,
  transform: Expr,
): Expr {
  const append = make.call("_+_", make.accu, make.list(transform));
  return make.fold({
    ...variables,
    range,
    init: make.list(),
    condition: make.literal(true),
    step: filter === undefined ? append : make.call("_?_:_", filter, append, make.accu),
    result: make.accu,
  });
}

export function simpleName(expr: Expr | undefined, message: string): string | MacroFault {
  if (expr?.kind === "ident" && !expr.name.startsWith(".")) return expr.name;
  return new MacroFault(message, expr?.offset ?? 0);
}

function quantifier(name: string, expand: typeof all): Macro {
  return {
    name,
    member: true,
    arguments: 2,
    expand: ({ target, args: [variable, predicate], offset }) => {
      const named = simpleName(variable, "argument must be a simple name");
      if (named instanceof MacroFault || target === undefined || predicate === undefined) return faultOf(named);
      return expand(new Builder(offset), target, { variable: named, secondVariable: undefined }, predicate);
    },
  };
}

function collector(
  name: string,
  count: number,
  parts: (args: readonly Expr[]) => readonly (Expr | undefined)[],
): Macro {
  return {
    name,
    member: true,
    arguments: count,
    expand: ({ target, args, offset }) => {
      const named = simpleName(args[0], "argument is not an identifier");
      const [filter, transform] = parts(args);
      if (named instanceof MacroFault || target === undefined || transform === undefined) return faultOf(named);
      return collect(new Builder(offset), target, { variable: named, secondVariable: undefined }, filter, transform);
    },
  };
}

function faultOf(named: string | MacroFault): MacroFault | undefined {
  return named instanceof MacroFault ? named : undefined;
}

function expandHas({ args: [argument], offset }: MacroCall): Expr | MacroFault {
  if (argument?.kind === "select" && !argument.test)
    return new Builder(offset).select(argument.operand, argument.field);
  return new MacroFault("invalid argument to has() macro", argument?.offset ?? offset);
}

export const standardMacros: readonly Macro[] = [
  { name: "has", member: false, arguments: 1, expand: expandHas },
  quantifier("all", all),
  quantifier("exists", exists),
  quantifier("exists_one", existsOne),
  quantifier("existsOne", existsOne),
  collector("map", 2, ([, transform]) => [undefined, transform]),
  collector("map", 3, ([, filter, transform]) => [filter, transform]),
  collector("filter", 2, ([item, filter]) => [filter, item]),
];
