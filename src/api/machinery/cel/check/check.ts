/**
 * The type checker: finds the type of each node, and what each name and call refers to.
 *
 * 1. All faults are found in one pass; a faulty node has the type error, which fits everywhere, so that each fault is
 *    reported once.
 * 2. The messages are those of cel-go.
 */

import type { FunctionDeclaration } from "../functions/function.ts";
import { candidates, type Names } from "../functions/names.ts";
import type { Call, Comprehension, Expr, ListExpr, MapExpr, Select, StructExpr } from "../syntax/ast.ts";
import type { Issue } from "../syntax/source.ts";
import type { Type } from "../values/type.ts";
import * as types from "../values/type.ts";
import { fieldOf, formatType } from "../values/type.ts";
import { TypeValue, typeOf } from "../values/value.ts";
import type { Checked, Reference } from "./checked.ts";
import { OverloadResolver } from "./overloads.ts";
import { Bindings, isWild, mostGeneral } from "./unify.ts";

export function check(expr: Expr, names: Names): Checked {
  const checker = new Checker(names);
  checker.check(expr);
  const found = new Map([...checker.types].map(([node, type]) => [node, checker.bindings.substitute(type, true)]));
  return { expr, types: found, references: checker.references, issues: checker.issues };
}

class Checker {
  readonly types = new Map<Expr, Type>();
  readonly references = new Map<Expr, Reference>();
  readonly issues: Issue[] = [];
  readonly bindings = new Bindings();
  private readonly overloads = new OverloadResolver(this.bindings);
  private readonly names: Names;
  private readonly scopes: ReadonlyMap<string, Type>[] = [];

  constructor(names: Names) {
    this.names = names;
  }

  check(expr: Expr): Type {
    const type = this.typeOf(expr);
    this.types.set(expr, type);
    return type;
  }

  private typeOf(expr: Expr): Type {
    switch (expr.kind) {
      case "literal":
        return typeOf(expr.value);
      case "ident":
        return this.named(expr, expr.name) ?? this.undeclared(expr, expr.name);
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
    }
  }

  /** The type of what a name refers to. Records the reference. */
  private named(expr: Expr, name: string): Type | undefined {
    for (const scope of this.scopes.toReversed()) {
      const type = scope.get(name);
      if (type === undefined) continue;
      this.references.set(expr, { kind: "local", name });
      return type;
    }
    for (const full of candidates(this.names.container, name)) {
      const variable = this.names.variables.get(full);
      if (variable !== undefined) {
        this.references.set(expr, { kind: "variable", name: full });
        return variable;
      }
      const constant = this.names.constants.get(full);
      if (constant !== undefined) {
        this.references.set(expr, { kind: "constant", value: constant.value });
        return constant.type;
      }
      const type = this.names.typeNamed?.(full);
      if (type !== undefined) {
        this.references.set(expr, { kind: "constant", value: new TypeValue(type) });
        return types.meta(type);
      }
    }
    return undefined;
  }

  private isLocal(name: string): boolean {
    return this.scopes.some((scope) => scope.has(name));
  }

  private select(expr: Select): Type {
    const qualified = expr.test ? undefined : qualifiedName(expr);
    if (qualified !== undefined && !this.isLocal(qualified.root)) {
      const type = this.named(expr, qualified.name);
      if (type !== undefined) return type;
    }
    const type = this.field(expr, expr.operand, expr.field, false);
    return expr.test ? types.bool : type;
  }

  private field(expr: Expr, operand: Expr, field: string, asOptional: boolean): Type {
    const operandType = this.bindings.substitute(this.check(operand));
    const { type: target, optional } = unwrapped(operandType);
    const type = this.fieldType(expr, target, field);
    return optional || asOptional ? types.optional(type) : type;
  }

  private fieldType(expr: Expr, target: Type, field: string): Type {
    switch (target.kind) {
      case "map":
        return target.value;
      case "object": {
        const found = fieldOf(target, field);
        return found?.type ?? this.fault(expr, `undefined field '${field}'`);
      }
      case "parameter":
        this.bindings.assign(types.dyn, target);
        return types.dyn;
      default:
        if (!isWild(target)) this.fault(expr, `type '${formatType(target)}' does not support field selection`);
        return types.dyn;
    }
  }

  private call(expr: Call): Type {
    if (expr.name === "_?._") return this.optionalSelect(expr);
    for (const arg of expr.args) this.check(arg);
    if (expr.target === undefined) {
      const found = this.function(expr.name);
      return found === undefined ? this.undeclared(expr, expr.name) : this.resolve(expr, found, expr.args, false);
    }
    const qualified = qualifiedName(expr.target);
    if (qualified !== undefined && !this.isLocal(qualified.root)) {
      const found = this.function(`${qualified.name}.${expr.name}`);
      if (found !== undefined) return this.resolve(expr, found, expr.args, false);
    }
    this.check(expr.target);
    const found = this.function(expr.name);
    if (found === undefined) return this.undeclared(expr, expr.name);
    return this.resolve(expr, found, [expr.target, ...expr.args], true);
  }

  private optionalSelect(expr: Call): Type {
    const [operand, field] = expr.args;
    if (operand === undefined || field?.kind !== "literal" || typeof field.value !== "string")
      return this.fault(expr, "unsupported optional field selection");
    this.check(field);
    const type = this.field(expr, operand, field.value, true);
    this.references.set(expr, { kind: "call", name: "_?._", overloads: [], args: expr.args });
    return type;
  }

  private function(name: string): FunctionDeclaration | undefined {
    for (const full of candidates(this.names.container, name)) {
      const found = this.names.functions.get(full);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  private resolve(expr: Expr, declared: FunctionDeclaration, args: readonly Expr[], member: boolean): Type {
    const argTypes = args.map((arg) => this.types.get(arg) ?? types.errorType);
    if (declared.name === "_&&_" || declared.name === "_||_") return this.logical(expr, declared, args, argTypes);
    const accepting = this.overloads.accepting(declared, argTypes, member);
    if (accepting === undefined) {
      const shown = argTypes.map((type) => formatType(this.bindings.substitute(type, true)));
      const signature = member ? `${shown[0]}.(${shown.slice(1).join(", ")})` : `(${shown.join(", ")})`;
      return this.fault(expr, `found no matching overload for '${declared.name}' applied to '${signature}'`);
    }
    this.references.set(expr, { kind: "call", name: declared.name, overloads: accepting.overloads, args });
    return accepting.result;
  }

  private logical(expr: Expr, declared: FunctionDeclaration, args: readonly Expr[], argTypes: readonly Type[]): Type {
    let faulty = false;
    for (const [index, arg] of args.entries()) {
      const type = argTypes[index] ?? types.errorType;
      if (this.bindings.assign(type, types.bool)) continue;
      this.mismatch(arg, types.bool, type);
      faulty = true;
    }
    this.references.set(expr, { kind: "call", name: declared.name, overloads: declared.overloads, args });
    return faulty ? types.errorType : types.bool;
  }

  private list(expr: ListExpr): Type {
    let element: Type | undefined;
    for (const [index, item] of expr.items.entries()) {
      const type = this.item(item, expr.optional.has(index));
      element = this.joined(element, type);
    }
    return types.list(element ?? this.overloads.parameter());
  }

  private map(expr: MapExpr): Type {
    let key: Type | undefined;
    let value: Type | undefined;
    for (const entry of expr.entries) {
      key = this.joined(key, this.check(entry.key));
      value = this.joined(value, this.item(entry.value, entry.optional));
    }
    return types.map(key ?? this.overloads.parameter(), value ?? this.overloads.parameter());
  }

  /** The type of an item; for `?item` that of the optional's value. */
  private item(expr: Expr, written: boolean): Type {
    const type = this.check(expr);
    if (!written) return type;
    const { type: inner, optional } = unwrapped(type);
    if (!optional && inner.kind !== "dyn") this.mismatch(expr, types.optional(inner), inner);
    return inner;
  }

  /** Different types become dyn here; literal-checks.ts reports them where that is not allowed. */
  private joined(previous: Type | undefined, current: Type): Type {
    if (previous === undefined) return current;
    return this.bindings.assign(previous, current) ? mostGeneral(previous, current) : types.dyn;
  }

  private struct(expr: StructExpr): Type {
    const type = this.named(expr, expr.type);
    if (type === undefined) return this.undeclared(expr, expr.type);
    const reference = this.references.get(expr);
    const value = reference?.kind === "constant" ? reference.value : undefined;
    if (!(value instanceof TypeValue)) return this.fault(expr, `'${formatType(type)}' is not a type`);
    const struct = value.type;
    if (struct.kind !== "object") return this.fault(expr, `'${formatType(struct)}' is not a message type`);
    this.references.set(expr, { kind: "struct", type: struct });
    for (const field of expr.fields) {
      const given = this.item(field.value, field.optional);
      const declared = fieldOf(struct, field.name)?.type;
      if (declared === undefined) this.fault(field, `undefined field '${field.name}'`);
      else if (!this.bindings.assign(declared, given))
        this.fault(
          field,
          `expected type of field '${field.name}' is '${formatType(declared)}' but provided type is '${formatType(given)}'`,
        );
    }
    return struct;
  }

  private comprehension(expr: Comprehension): Type {
    const range = this.bindings.substitute(this.check(expr.range));
    const accumulator = this.check(expr.init);
    this.scopes.push(new Map([[expr.accumulator, accumulator]]));
    this.scopes.push(this.iteration(expr, range));
    this.mustBe(expr.condition, types.bool);
    this.mustBe(expr.step, accumulator);
    this.scopes.pop();
    const result = this.check(expr.result);
    this.scopes.pop();
    return this.bindings.substitute(result);
  }

  private iteration(expr: Comprehension, range: Type): Map<string, Type> {
    const second = expr.secondVariable;
    switch (range.kind) {
      case "list":
        return second === undefined
          ? new Map([[expr.variable, range.element]])
          : new Map<string, Type>([
              [expr.variable, types.int],
              [second, range.element],
            ]);
      case "map":
        return new Map([[expr.variable, range.key], ...(second === undefined ? [] : [[second, range.value] as const])]);
      default: {
        const type = isWild(range) || range.kind === "parameter" ? types.dyn : this.notARange(expr, range);
        if (range.kind === "parameter") this.bindings.assign(types.dyn, range);
        return new Map([[expr.variable, type], ...(second === undefined ? [] : [[second, type] as const])]);
      }
    }
  }

  private notARange(expr: Comprehension, range: Type): Type {
    return this.fault(
      expr.range,
      `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
    );
  }

  private mustBe(expr: Expr, wanted: Type): void {
    const type = this.check(expr);
    if (!this.bindings.assign(wanted, type)) this.mismatch(expr, wanted, type);
  }

  private mismatch(expr: Expr, wanted: Type, found: Type): Type {
    return this.fault(expr, `expected type '${formatType(wanted)}' but found '${formatType(found)}'`);
  }

  private undeclared(expr: Expr, name: string): Type {
    return this.fault(expr, `undeclared reference to '${name}' (in container '${this.names.container}')`);
  }

  private fault({ offset }: { readonly offset: number }, message: string): Type {
    this.issues.push({ message, offset });
    return types.errorType;
  }
}

function unwrapped(type: Type): { readonly type: Type; readonly optional: boolean } {
  const inner = type.kind === "opaque" && type.name === "optional_type" ? type.parameters[0] : undefined;
  return inner === undefined ? { type, optional: false } : { type: inner, optional: true };
}

function qualifiedName(expr: Expr): { readonly name: string; readonly root: string } | undefined {
  if (expr.kind === "ident") return { name: expr.name, root: expr.name };
  if (expr.kind !== "select" || expr.test) return undefined;
  const operand = qualifiedName(expr.operand);
  return operand && { name: `${operand.name}.${expr.field}`, root: operand.root };
}
