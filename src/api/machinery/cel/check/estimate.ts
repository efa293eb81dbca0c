/**
 * What an expression may cost, before there is data: the least and the most.
 *
 * 1. Sizes come from the expression itself where it tells them, otherwise from what is known of the data at a path, such as self.tags.@items.
 * 2. What is not known is unlimited. Costs then are, too.
 * 3. The figures are those of cel-go, unit by unit, because they decide whether a rule may be written to a CRD.
 */

import { addRanges, costs, multiplyRanges, type Range, range, unionRanges, unlimited } from "../functions/cost.ts";
import type { CallEstimate, Overload, SizedNode, TypeDeclaration } from "../functions/function.ts";
import type { Call, Comprehension, Expr } from "../syntax/ast.ts";
import { unused } from "../syntax/standard-macros.ts";
import { sameType, type Type, typeName } from "../values/type.ts";
import { codePoints } from "../values/value.ts";
import type { Checked } from "./check.ts";

/** The size of the data at a path: a variable, then fields, `@items`, `@keys`, `@values`. Undefined if it is not known. */
export type SizeEstimator = (path: readonly string[]) => Range | undefined;

type Path = readonly string[];

/** Sizes of the keys (or indexes) and the values in a list or map that the expression makes. */
interface EntrySizes {
  readonly container: "list" | "map";
  readonly key: Range;
  readonly value: Range;
}

interface Local {
  readonly path: Path;
  readonly size: Range | undefined;
  readonly entries: EntrySizes | undefined;
}

const unknown = range(0, unlimited);

export function estimateCost(
  checked: Checked,
  sizes: SizeEstimator,
  types: ReadonlyMap<string, TypeDeclaration>,
): Range {
  return new Estimator(checked, sizes, types).cost(checked.expr);
}

class Estimator {
  private readonly checked: Checked;
  private readonly sizes: SizeEstimator;
  private readonly declarations: ReadonlyMap<string, TypeDeclaration>;
  private readonly paths = new Map<Expr, Path>();
  private readonly known = new Map<Expr, Range>();
  private readonly entries = new Map<Expr, EntrySizes>();
  private readonly locals = new Map<string, Local[]>();

  constructor(checked: Checked, sizes: SizeEstimator, declarations: ReadonlyMap<string, TypeDeclaration>) {
    this.checked = checked;
    this.sizes = sizes;
    this.declarations = declarations;
  }

  cost(expr: Expr): Range {
    const reference = this.checked.references.get(expr);
    if (expr.kind === "select" && reference !== undefined) {
      this.paths.set(expr, [expr.field]);
      return range(costs.select);
    }
    switch (expr.kind) {
      case "literal":
        return range(costs.constant);
      case "ident":
        this.paths.set(expr, this.local(expr.name)?.path ?? [expr.name]);
        return range(costs.select);
      case "select": {
        const operand = this.cost(expr.operand);
        // Asking whether a field is there is free; getting there is not.
        if (expr.test) return operand;
        this.paths.set(expr, [...this.path(expr.operand), expr.field]);
        const { kind } = this.type(expr.operand);
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
      return exprs.map((each) => this.size(each) ?? unknown).reduce(unionRanges);
    };
    this.entries.set(expr, {
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
      this.copySizes(first, expr);
      return addRanges(range(1), argCosts[0] ?? range(0));
    }
    const nodes = reference.args.map((arg) => this.sizedNode(arg));
    const overloads: readonly (Overload | undefined)[] =
      reference.overloads.length === 0 ? [undefined] : reference.overloads;
    let cost: Range = { min: unlimited, max: 0 };
    let size: Range | undefined;
    for (const overload of overloads) {
      const estimated = this.overload(expr, reference.args, overload, nodes, argCosts);
      cost = unionRanges(cost, estimated.cost);
      if (estimated.size !== undefined) size = size === undefined ? estimated.size : unionRanges(size, estimated.size);
      if (first !== undefined && (overload?.id === "index_list" || overload?.id === "index_map")) {
        size = this.entrySizes(first)?.value;
        this.paths.set(expr, [...this.path(first), overload.id === "index_list" ? "@items" : "@values"]);
      }
      size ??= this.size(expr);
    }
    if (size !== undefined) this.known.set(expr, size);
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
        this.mergeEntries(expr, args[1], args[2]);
        return {
          cost: addRanges(first, unionRanges(second, third)),
          size: unionRanges(yes?.size ?? unknown, no?.size ?? unknown),
        };
      }
      case "add_list":
        this.mergeEntries(expr, args[0], args[1]);
        break;
    }
    const estimated = this.equality(overload, nodes) ?? overload?.estimate?.(nodes) ?? { cost: range(1) };
    return { ...estimated, cost: addRanges(estimated.cost, sum(argCosts)) };
  }

  /** Types of libraries may say what comparing them costs. */
  private equality(overload: Overload | undefined, [left, right]: readonly SizedNode[]): CallEstimate | undefined {
    if (overload?.id !== "equals" || left === undefined || right === undefined) return undefined;
    if (!sameType(left.type, right.type)) return undefined;
    const cost = this.declarations.get(typeName(left.type))?.equality?.(left, right);
    return cost && { cost };
  }

  private comprehension(expr: Comprehension): Range {
    const before = addRanges(this.cost(expr.range), this.cost(expr.init));
    this.push(expr.accumulator, {
      path: this.path(expr.init),
      size: this.size(expr.init),
      entries: this.entrySizes(expr.init),
    });
    if (expr.secondVariable === undefined) {
      this.pushIteration(expr.variable, expr.range, "single");
    } else {
      this.pushIteration(expr.variable, expr.range, "key");
      this.pushIteration(expr.secondVariable, expr.range, "value");
    }
    const condition = this.cost(expr.condition);
    const step = this.cost(expr.step);
    this.pop(expr.variable);
    if (expr.secondVariable !== undefined) this.pop(expr.secondVariable);
    const result = this.cost(expr.result);
    this.pop(expr.accumulator);
    const count = this.size(expr.range) ?? unknown;
    if (expr.init.kind === "list" || expr.init.kind === "map") {
      this.known.set(expr, count);
      const made = this.entrySizes(expr.step);
      if (made !== undefined) this.entries.set(expr, made);
    } else {
      const size = this.size(expr.init);
      if (expr.init.kind === "literal" && size !== undefined) this.known.set(expr, size);
    }
    return sum([before, result, multiplyRanges(count, addRanges(step, condition))]);
  }

  private binding(expr: Comprehension): Range {
    const before = addRanges(this.cost(expr.range), this.cost(expr.init));
    this.push(expr.accumulator, {
      path: this.path(expr.init),
      size: this.size(expr.init),
      entries: this.entrySizes(expr.init),
    });
    const result = this.cost(expr.result);
    this.copySizes(expr.result, expr);
    this.pop(expr.accumulator);
    return addRanges(before, result);
  }

  private pushIteration(name: string, over: Expr, role: "single" | "key" | "value"): void {
    const made = this.entrySizes(over);
    const isList = (made?.container ?? this.type(over).kind) === "list";
    const isKey = role === "key" || (role === "single" && !isList);
    const last = isKey ? (isList ? "@indices" : "@keys") : isList ? "@items" : "@values";
    this.push(name, { path: [...this.path(over), last], size: isKey ? made?.key : made?.value, entries: undefined });
  }

  private push(name: string, local: Local): void {
    const stack = this.locals.get(name);
    if (stack === undefined) this.locals.set(name, [local]);
    else stack.push(local);
  }

  private pop(name: string): void {
    this.locals.get(name)?.pop();
  }

  private local(name: string): Local | undefined {
    return this.locals.get(name)?.at(-1);
  }

  private type(expr: Expr): Type {
    return this.checked.types.get(expr) ?? { kind: "error" };
  }

  private path(expr: Expr): Path {
    const local = expr.kind === "ident" ? this.local(expr.name) : undefined;
    return local?.path ?? this.paths.get(expr) ?? [];
  }

  private size(expr: Expr): Range | undefined {
    const known = this.known.get(expr) ?? literalSize(expr);
    if (known !== undefined) return known;
    const estimated = this.dataSize(this.path(expr));
    if (estimated !== undefined) {
      this.known.set(expr, estimated);
      return estimated;
    }
    if (isScalar(this.type(expr))) return range(1);
    return expr.kind === "ident" ? this.local(expr.name)?.size : undefined;
  }

  private dataSize(path: Path): Range | undefined {
    return path.length === 0 ? undefined : this.sizes(path);
  }

  private entrySizes(expr: Expr): EntrySizes | undefined {
    return this.entries.get(expr) ?? (expr.kind === "ident" ? this.local(expr.name)?.entries : undefined);
  }

  private mergeEntries(expr: Expr, left: Expr | undefined, right: Expr | undefined): void {
    const a = left && this.entrySizes(left);
    const b = right && this.entrySizes(right);
    if (a === undefined || b === undefined) return;
    this.entries.set(expr, {
      container: a.container,
      key: unionRanges(a.key, b.key),
      value: unionRanges(a.value, b.value),
    });
  }

  private copySizes(from: Expr, to: Expr): void {
    const size = this.size(from);
    if (size !== undefined) this.known.set(to, size);
    const entries = this.entrySizes(from);
    if (entries !== undefined) this.entries.set(to, entries);
  }

  private sizedNode(expr: Expr): SizedNode {
    const type = this.type(expr);
    const computedSize = this.size(expr);
    const path = this.path(expr);
    return {
      type,
      size: computedSize ?? unknown,
      computedSize,
      literal: expr.kind === "literal" ? expr.value : undefined,
      element: this.elementNode(type, path),
    };
  }

  private elementNode(of: Type, path: Path): SizedNode | undefined {
    const type = of.kind === "list" ? of.element : of.kind === "map" ? of.key : undefined;
    if (type === undefined) return undefined;
    const inner = path.length === 0 ? [] : [...path, "@items"];
    return {
      type,
      size: this.dataSize(inner) ?? unknown,
      computedSize: undefined,
      literal: undefined,
      element: this.elementNode(type, inner),
    };
  }
}

function sum(ranges: readonly Range[]): Range {
  return ranges.reduce(addRanges, range(0));
}

function literalSize(expr: Expr): Range | undefined {
  if (expr.kind === "list") return range(expr.items.length);
  if (expr.kind === "map") return range(expr.entries.length);
  if (expr.kind !== "literal") return undefined;
  if (typeof expr.value === "string") return range(codePoints(expr.value));
  return range(expr.value instanceof Uint8Array ? expr.value.length : 1);
}

function isScalar(type: Type): boolean {
  switch (type.kind) {
    case "bool":
    case "int":
    case "uint":
    case "double":
    case "duration":
    case "timestamp":
      return true;
    case "opaque":
      return type.name === "optional_type" && type.parameters[0] !== undefined && isScalar(type.parameters[0]);
    default:
      return false;
  }
}

/** What a schema tells of the sizes of the data behind the variables of an expression, all of which are of this type. */
export function sizesOf(root: Type): SizeEstimator {
  return (path) => {
    let type: Type | undefined = root;
    for (const name of path.slice(1)) {
      type = step(type, name);
      if (type === undefined) return undefined;
    }
    return range(0, type.data?.maxSize ?? 0);
  };
}

function step(type: Type, name: string): Type | undefined {
  switch (name) {
    case "@items":
    case "@values":
      return type.kind === "list" ? type.element : type.kind === "map" ? type.value : undefined;
    case "@keys":
      return type.kind === "map" ? type.key : undefined;
    default:
      return type.kind === "object" ? type.fields.get(name)?.type : undefined;
  }
}
