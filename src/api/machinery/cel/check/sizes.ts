/**
 * The sizes of an expression's parts while its cost is estimated: from the expression itself where it determines them,
 * otherwise from what is known of the data at a path, such as self.tags.@items.
 */
import { type Range, range, unionRanges, unlimited } from "../functions/cost.ts";
import type { SizedNode } from "../functions/function.ts";
import type { Expr } from "../syntax/ast.ts";
import type { Type } from "../values/type.ts";
import { codePoints } from "../values/value.ts";
import type { Checked } from "./checked.ts";

/**
 * The size of the data at a path: a variable, then fields, `@items`, `@keys`, `@values`. Undefined if it is not known.
 */
export type SizeEstimator = (path: readonly string[]) => Range | undefined;

export type Path = readonly string[];

/** Sizes of the keys (or indexes) and the values of a list or map that the expression constructs. */
export interface EntrySizes {
  readonly container: "list" | "map";
  readonly key: Range;
  readonly value: Range;
}

export interface Local {
  readonly path: Path;
  readonly size: Range | undefined;
  readonly entries: EntrySizes | undefined;
}

export const unknown = range(0, unlimited);

export class Sizes {
  private readonly types: Checked["types"];
  private readonly estimator: SizeEstimator;
  private readonly paths = new Map<Expr, Path>();
  private readonly known = new Map<Expr, Range>();
  private readonly entries = new Map<Expr, EntrySizes>();
  private readonly locals = new Map<string, Local[]>();

  constructor({ types }: Checked, estimator: SizeEstimator) {
    this.types = types;
    this.estimator = estimator;
  }

  setPath(expr: Expr, path: Path): void {
    this.paths.set(expr, path);
  }

  setSize(expr: Expr, size: Range): void {
    this.known.set(expr, size);
  }

  setEntries(expr: Expr, entries: EntrySizes): void {
    this.entries.set(expr, entries);
  }

  push(name: string, local: Local): void {
    const stack = this.locals.get(name);
    if (stack === undefined) this.locals.set(name, [local]);
    else stack.push(local);
  }

  pop(name: string): void {
    this.locals.get(name)?.pop();
  }

  local(name: string): Local | undefined {
    return this.locals.get(name)?.at(-1);
  }

  type(expr: Expr): Type {
    return this.types.get(expr) ?? { kind: "error" };
  }

  path(expr: Expr): Path {
    const local = expr.kind === "ident" ? this.local(expr.name) : undefined;
    return local?.path ?? this.paths.get(expr) ?? [];
  }

  size(expr: Expr): Range | undefined {
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
    return path.length === 0 ? undefined : this.estimator(path);
  }

  entrySizes(expr: Expr): EntrySizes | undefined {
    return this.entries.get(expr) ?? (expr.kind === "ident" ? this.local(expr.name)?.entries : undefined);
  }

  mergeEntries(expr: Expr, left: Expr | undefined, right: Expr | undefined): void {
    const a = left && this.entrySizes(left);
    const b = right && this.entrySizes(right);
    if (a === undefined || b === undefined) return;
    this.entries.set(expr, {
      container: a.container,
      key: unionRanges(a.key, b.key),
      value: unionRanges(a.value, b.value),
    });
  }

  copySizes(from: Expr, to: Expr): void {
    const size = this.size(from);
    if (size !== undefined) this.known.set(to, size);
    const entries = this.entrySizes(from);
    if (entries !== undefined) this.entries.set(to, entries);
  }

  sizedNode(expr: Expr): SizedNode {
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

/** The sizes that a schema declares for data of this type, which all variables of an expression have. */
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
