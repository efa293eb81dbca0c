/**
 * Compiles a checked expression to closures: everything static is decided here, evaluation only runs them.
 *
 * 1. Each closure charges what its node costs, as cel-go counts: a variable, a field and an index cost 1, a list 10, a
 *    map 30, a struct 40, a call what its overload declares. Arguments are charged before the call.
 * 2. Attributes (variables with their fields and indexes) cost one unit less where they are a branch of `?:` or an
 *    index: only the fields on the way are charged. A call whose last argument is not reached because of an error costs
 *    nothing. cel-go counts this way, and budgets depend on it; `resolve` of a node is that form.
 * 3. With `optimize`, literals of literals, conversions of literals and `in` a list of literals are computed once and
 *    cost nothing.
 */

import type { Checked, Reference } from "../check/checked.ts";
import { costs } from "../functions/cost.ts";
import type { Call, Comprehension, Expr, ListExpr, MapExpr, Select, StructExpr } from "../syntax/ast.ts";
import { unused } from "../syntax/standard-macros.ts";
import { isPresent, qualify, qualifyIfPresent } from "../values/attribute.ts";
import { errorType, type Type } from "../values/type.ts";
import { ArrayList, CelError } from "../values/value.ts";
import { called } from "./calls.ts";
import { foldCall } from "./constant-folding.ts";
import { makeList, makeMap, makeStruct } from "./constructors.ts";
import { type Fold, runFold } from "./fold.ts";
import { Frame, type Step, type VariableDeclaration } from "./frame.ts";
import { addedItem, appendItem, growsFrom, insertEntries, insertEntry } from "./growth.ts";
import { attribute, constant, constants, type Node, resolver } from "./node.ts";
import { conditional, indexed, logical, notStrictlyFalse, otherwise } from "./operators.ts";

export interface Compiled {
  readonly run: Step;
  readonly variables: readonly VariableDeclaration[];
  /** Why the expression can only fail. */
  readonly fault: string | undefined;
}

type CallReference = Extract<Reference, { kind: "call" }>;

export function compile(checked: Checked, variables: ReadonlyMap<string, Type>, optimize: boolean): Compiled {
  const compiler = new Compiler(checked, variables, optimize);
  const { run } = compiler.node(checked.expr);
  return { run, variables: compiler.used, fault: compiler.fault };
}

class Compiler {
  readonly used: VariableDeclaration[] = [];
  fault: string | undefined;
  private readonly checked: Checked;
  private readonly variables: ReadonlyMap<string, Type>;
  private readonly optimize: boolean;
  /** The visible comprehension variables, the innermost last. */
  private readonly scope: { readonly name: string; readonly slot: number; readonly lazy?: Step }[] = [];
  private slots = 0;
  /** Slots of accumulators that grow in place. */
  private readonly growing = new Set<number>();

  constructor(checked: Checked, variables: ReadonlyMap<string, Type>, optimize: boolean) {
    this.checked = checked;
    this.variables = variables;
    this.optimize = optimize;
  }

  node(expr: Expr): Node {
    const reference = this.checked.references.get(expr);
    if (reference?.kind === "constant") return constant(reference.value);
    if (reference?.kind === "variable") return this.variable(reference.name);
    if (reference?.kind === "local") return this.local(reference.name);
    switch (expr.kind) {
      case "literal":
        return constant(expr.value);
      case "select":
        return this.select(expr);
      case "call":
        return this.call(expr);
      case "list":
        return this.list(expr);
      case "map":
        return this.map(expr);
      case "struct":
        return this.struct(expr);
      case "comprehension":
        return this.comprehension(expr);
      case "ident":
        throw new Error(`unchecked name ${expr.name}`);
    }
  }

  private variable(name: string): Node {
    let index = this.used.findIndex((declared) => declared.name === name);
    if (index === -1) index = this.used.push({ name, type: this.variables.get(name) ?? errorType }) - 1;
    return attribute((frame) => frame.variable(index));
  }

  private local(name: string): Node {
    const found = this.scope.findLast((each) => each.name === name);
    if (found === undefined) throw new Error(`no variable ${name} in scope`);
    const { slot, lazy } = found;
    if (lazy !== undefined) return attribute(lazy);
    return attribute((frame) => frame.slots[slot] ?? null);
  }

  private select(expr: Select): Node {
    const { field } = expr;
    const operand = resolver(this.node(expr.operand));
    if (expr.test) {
      const test: Step = (frame) => {
        const value = operand(frame);
        frame.charge(costs.select);
        return value instanceof CelError ? value : isPresent(value, field);
      };
      return { run: test, resolve: test };
    }
    return attribute((frame) => {
      const value = operand(frame);
      frame.charge(costs.select);
      return value instanceof CelError ? value : qualify(value, field);
    });
  }

  private call(expr: Call): Node {
    const reference = this.checked.references.get(expr);
    if (reference?.kind !== "call") throw new Error(`unchecked call ${expr.name}`);
    const { name } = reference;
    const arg = (index: number) => this.arg(reference, index);
    switch (name) {
      case "_&&_":
        return logical(arg(0).run, arg(1).run, false);
      case "_||_":
        return logical(arg(0).run, arg(1).run, true);
      case "_?_:_":
        return conditional(arg(0).run, resolver(arg(1)), resolver(arg(2)));
      case "@not_strictly_false":
        return notStrictlyFalse(arg(0).run);
      case "_[_]":
        return indexed(resolver(arg(0)), arg(1), qualify);
      case "_[?_]":
      case "_?._":
        return indexed(resolver(arg(0)), arg(1), qualifyIfPresent);
      case "or":
      case "orValue":
        if (reference.overloads.every(({ id }) => id.startsWith("optional_")))
          return otherwise(arg(0).run, arg(1).run, name === "orValue");
    }
    const inPlace = this.growth(reference);
    if (inPlace !== undefined) return { run: inPlace };
    const args = reference.args.map((arg) => this.node(arg));
    if (this.optimize) {
      const folded = foldCall(name, reference.overloads, args);
      if (folded !== undefined) return folded;
    }
    return { run: this.overloaded(reference, args) };
  }

  private arg(reference: CallReference, index: number): Node {
    const arg = reference.args[index];
    if (arg === undefined) throw new Error(`${reference.name} lacks an argument`);
    return this.node(arg);
  }

  /** A call that adds to an accumulator that grows in place. */
  private growth(reference: CallReference): Step | undefined {
    const [first, second, third] = reference.args;
    const target = first === undefined ? undefined : this.checked.references.get(first);
    if (target?.kind !== "local" || second === undefined) return undefined;
    const slot = this.scope.findLast(({ name }) => name === target.name)?.slot;
    if (slot === undefined || !this.growing.has(slot)) return undefined;
    const added = addedItem(reference.name, second);
    if (added !== undefined) {
      const item = this.node(added);
      return appendItem(slot, item.run, this.optimize && item.constant !== undefined);
    }
    if (reference.name !== "cel.@mapInsert") return undefined;
    const key = this.node(second).run;
    return third === undefined ? insertEntries(slot, key) : insertEntry(slot, key, this.node(third).run);
  }

  private overloaded({ name, overloads, args: exprs }: CallReference, args: readonly Node[]): Step {
    for (const overload of overloads) this.fault ??= overload.refuses?.(args.map((arg) => arg.constant?.value));
    const types = exprs.map((arg) => this.checked.types.get(arg) ?? errorType);
    return called(name, overloads, args, types);
  }

  private list(expr: ListExpr): Node {
    const items = expr.items.map((item) => this.node(item));
    const values = this.optimize && expr.optional.size === 0 ? constants(items) : undefined;
    if (values !== undefined) return constant(new ArrayList(values));
    return { run: makeList(items.map(({ run }, index) => ({ run, optional: expr.optional.has(index) }))) };
  }

  private map(expr: MapExpr): Node {
    const keys = expr.entries.map(({ key }) => this.node(key));
    const values = expr.entries.map(({ value }) => this.node(value));
    const run = makeMap(
      expr.entries.map(({ optional }, index) => ({
        key: keys[index]?.run ?? unreachable,
        run: values[index]?.run ?? unreachable,
        optional,
      })),
    );
    if (
      this.optimize &&
      constants([...keys, ...values]) !== undefined &&
      !expr.entries.some(({ optional }) => optional)
    ) {
      const map = run(new Frame([], {}, undefined));
      if (!(map instanceof CelError)) return constant(map);
    }
    return { run };
  }

  private struct(expr: StructExpr): Node {
    const reference = this.checked.references.get(expr);
    if (reference?.kind !== "struct") throw new Error(`unchecked type ${expr.type}`);
    const fields = expr.fields.map(({ name, value, optional }) => ({ name, run: this.node(value).run, optional }));
    return { run: makeStruct(reference.type, fields) };
  }

  private comprehension(expr: Comprehension): Node {
    const range = this.node(expr.range).run;
    const init = this.node(expr.init).run;
    const accumulator = this.slots++;
    if (expr.variable === unused) return this.binding(expr, range, init, accumulator);
    const depth = this.scope.push({ name: expr.accumulator, slot: accumulator });
    const builds = growsFrom(expr.init);
    if (builds !== undefined) this.growing.add(accumulator);
    const variable = this.slots++;
    this.scope.push({ name: expr.variable, slot: variable });
    let secondVariable: number | undefined;
    if (expr.secondVariable !== undefined) {
      secondVariable = this.slots++;
      this.scope.push({ name: expr.secondVariable, slot: secondVariable });
    }
    const condition = this.node(expr.condition).run;
    const step = this.node(expr.step).run;
    this.scope.length = depth;
    const result = this.node(expr.result).run;
    this.scope.length = depth - 1;
    const fold: Fold = { range, variable, secondVariable, accumulator, init, builds, condition, step, result };
    return { run: (frame) => runFold(fold, frame) };
  }

  /** `cel.bind`: a name for a value that is evaluated on first use. */
  private binding(expr: Comprehension, range: Step, init: Step, slot: number): Node {
    const lazy: Step = (frame) => {
      const known = frame.slots[slot];
      if (known !== undefined) return known;
      const value = init(frame);
      frame.slots[slot] = value;
      return value;
    };
    this.scope.push({ name: expr.accumulator, slot, lazy });
    const result = this.node(expr.result).run;
    this.scope.pop();
    return {
      run: (frame) => {
        range(frame);
        delete frame.slots[slot];
        return result(frame);
      },
    };
  }
}

function unreachable(): never {
  throw new Error("each entry has a key and a value");
}
