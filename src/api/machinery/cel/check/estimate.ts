/**
 * The estimated cost of an expression, before there is data: its minimum and its maximum.
 *
 * 1. Unknown sizes are unlimited, and so are the costs that depend on them.
 * 2. The figures are those of cel-go, unit by unit, because they decide whether a CRD with a rule is accepted.
 */

import { addRanges, costs, multiplyRanges, type Range, range, unionRanges, unlimited } from "../functions/cost.ts";
import type { CallEstimate, Overload, SizedNode, TypeDeclaration } from "../functions/function.ts";
import type { Call, Comprehension, Expr } from "../syntax/ast.ts";
import { unused } from "../syntax/standard-macros.ts";
import { sameType, typeName } from "../values/type.ts";
import type { Checked } from "./checked.ts";
import { type SizeEstimator, Sizes, unknown } from "./sizes.ts";

export function estimateCost(
  checked: Checked,
  sizes: SizeEstimator,
  types: ReadonlyMap<string, TypeDeclaration>,
): Range {
  return new Estimator(checked, sizes, types).cost(checked.expr);
}

class Estimator {
  private readonly checked: Checked;
  private readonly sizes: Sizes;
  private readonly declarations: ReadonlyMap<string, TypeDeclaration>;

  constructor(checked: Checked, sizes: SizeEstimator, declarations: ReadonlyMap<string, TypeDeclaration>) {
    this.checked = checked;
    this.sizes = new Sizes(checked, sizes);
    this.declarations = declarations;
  }

  cost(expr: Expr): Range {
    const reference = this.checked.references.get(expr);
    if (expr.kind === "select" && reference !== undefined) {
      this.sizes.setPath(expr, [expr.field]);
      return range(costs.select);
    }
    switch (expr.kind) {
      case "literal":
        return range(costs.constant);
      case "ident":
        this.sizes.setPath(expr, this.sizes.local(expr.name)?.path ?? [expr.name]);
        return range(costs.select);
      case "select": {
        const operand = this.cost(expr.operand);
        // `has()` itself is free; evaluating its operand is not.
        if (expr.test) return operand;
        this.sizes.setPath(expr, [...this.sizes.path(expr.operand), expr.field]);
        const { kind } = this.sizes.type(expr.operand);
        return kind === "map" || kind === "object" || kind === "parameter"
          ? addRanges(operand, range(costs.select))
          : operand;
      }
      case "call":
        return this.call(expr);
      case "list":
        return this.container(expr, "list", [], expr.items, costs.listCreate);
      case "map":
        return this.container(
          expr,
          "map",
          expr.entries.map(({ key }) => key),
          expr.entries.map(({ value }) => value),
          costs.mapCreate,
        );
      case "struct":
        return sum([range(costs.structCreate), ...expr.fields.map(({ value }) => this.cost(value))]);
      case "comprehension":
        return expr.variable === unused ? this.binding(expr) : this.comprehension(expr);
    }
  }

  private container(
    expr: Expr,
    container: "list" | "map",
    keys: readonly Expr[],
    values: readonly Expr[],
    base: number,
  ): Range {
    const parts = container === "list" ? values : keys.flatMap((key, index) => [key, values[index] ?? key]);
    const total = sum([range(base), ...parts.map((part) => this.cost(part))]);
    const sizesOf = (exprs: readonly Expr[]): Range => {
      if (exprs.length === 0) return range(0);
      return exprs.map((each) => this.sizes.size(each) ?? unknown).reduce(unionRanges);
    };
    this.sizes.setEntries(expr, {
      container,
      key: container === "list" ? range(1) : sizesOf(keys),
      value: sizesOf(values),
    });
    return total;
  }

  private call(expr: Call): Range {
    const reference = this.checked.references.get(expr);
    if (reference?.kind !== "call") return range(0);
    const argCosts = reference.args.map((arg) => this.cost(arg));
    const [first] = reference.args;
    if (reference.name === "dyn" && first !== undefined) {
      this.sizes.copySizes(first, expr);
      return addRanges(range(1), argCosts[0] ?? range(0));
    }
    const nodes = reference.args.map((arg) => this.sizes.sizedNode(arg));
    const overloads: readonly (Overload | undefined)[] =
      reference.overloads.length === 0 ? [undefined] : reference.overloads;
    let cost: Range = { min: unlimited, max: 0 };
    let size: Range | undefined;
    for (const overload of overloads) {
      const estimated = this.overload(expr, reference.args, overload, nodes, argCosts);
      cost = unionRanges(cost, estimated.cost);
      if (estimated.size !== undefined) size = size === undefined ? estimated.size : unionRanges(size, estimated.size);
      if (first !== undefined && (overload?.id === "index_list" || overload?.id === "index_map")) {
        size = this.sizes.entrySizes(first)?.value;
        this.sizes.setPath(expr, [...this.sizes.path(first), overload.id === "index_list" ? "@items" : "@values"]);
      }
      size ??= this.sizes.size(expr);
    }
    if (size !== undefined) this.sizes.setSize(expr, size);
    return cost;
  }

  private overload(
    expr: Call,
    args: readonly Expr[],
    overload: Overload | undefined,
    nodes: readonly SizedNode[],
    argCosts: readonly Range[],
  ): CallEstimate {
    const [first = range(0), second = range(0), third = range(0)] = argCosts;
    switch (overload?.id) {
      case "logical_and":
      case "logical_or":
        return { cost: { min: first.min, max: addRanges(first, second).max } };
      case "conditional": {
        const [, yes, no] = nodes;
        this.sizes.mergeEntries(expr, args[1], args[2]);
        return {
          cost: addRanges(first, unionRanges(second, third)),
          size: unionRanges(yes?.size ?? unknown, no?.size ?? unknown),
        };
      }
      case "add_list":
        this.sizes.mergeEntries(expr, args[0], args[1]);
        break;
    }
    const estimated = this.equality(overload, nodes) ?? overload?.estimate?.(nodes) ?? { cost: range(1) };
    return { ...estimated, cost: addRanges(estimated.cost, sum(argCosts)) };
  }

  /** Types of libraries may declare the cost of comparing them. */
  private equality(overload: Overload | undefined, [left, right]: readonly SizedNode[]): CallEstimate | undefined {
    if (overload?.id !== "equals" || left === undefined || right === undefined) return undefined;
    if (!sameType(left.type, right.type)) return undefined;
    const cost = this.declarations.get(typeName(left.type))?.equality?.(left, right);
    return cost && { cost };
  }

  private comprehension(expr: Comprehension): Range {
    const before = addRanges(this.cost(expr.range), this.cost(expr.init));
    this.sizes.push(expr.accumulator, {
      path: this.sizes.path(expr.init),
      size: this.sizes.size(expr.init),
      entries: this.sizes.entrySizes(expr.init),
    });
    if (expr.secondVariable === undefined) {
      this.pushIteration(expr.variable, expr.range, "single");
    } else {
      this.pushIteration(expr.variable, expr.range, "key");
      this.pushIteration(expr.secondVariable, expr.range, "value");
    }
    const condition = this.cost(expr.condition);
    const step = this.cost(expr.step);
    this.sizes.pop(expr.variable);
    if (expr.secondVariable !== undefined) this.sizes.pop(expr.secondVariable);
    const result = this.cost(expr.result);
    this.sizes.pop(expr.accumulator);
    const count = this.sizes.size(expr.range) ?? unknown;
    if (expr.init.kind === "list" || expr.init.kind === "map") {
      this.sizes.setSize(expr, count);
      const made = this.sizes.entrySizes(expr.step);
      if (made !== undefined) this.sizes.setEntries(expr, made);
    } else {
      const size = this.sizes.size(expr.init);
      if (expr.init.kind === "literal" && size !== undefined) this.sizes.setSize(expr, size);
    }
    return sum([before, result, multiplyRanges(count, addRanges(step, condition))]);
  }

  private binding(expr: Comprehension): Range {
    const before = addRanges(this.cost(expr.range), this.cost(expr.init));
    this.sizes.push(expr.accumulator, {
      path: this.sizes.path(expr.init),
      size: this.sizes.size(expr.init),
      entries: this.sizes.entrySizes(expr.init),
    });
    const result = this.cost(expr.result);
    this.sizes.copySizes(expr.result, expr);
    this.sizes.pop(expr.accumulator);
    return addRanges(before, result);
  }

  private pushIteration(name: string, over: Expr, role: "single" | "key" | "value"): void {
    const made = this.sizes.entrySizes(over);
    const isList = (made?.container ?? this.sizes.type(over).kind) === "list";
    const isKey = role === "key" || (role === "single" && !isList);
    const last = isKey ? (isList ? "@indices" : "@keys") : isList ? "@items" : "@values";
    this.sizes.push(name, {
      path: [...this.sizes.path(over), last],
      size: isKey ? made?.key : made?.value,
      entries: undefined,
    });
  }
}

function sum(ranges: readonly Range[]): Range {
  return ranges.reduce(addRanges, range(0));
}
