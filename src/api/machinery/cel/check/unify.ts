/**
 * Assignability of types, with type parameters bound on the way.
 *
 * 1. A failed assignment leaves the bindings unchanged.
 * 2. dyn and error are assignable to everything.
 */
import type { Type, TypeParameter } from "../values/type.ts";
import * as types from "../values/type.ts";
import { sameType } from "../values/type.ts";

export class Bindings {
  private readonly bound = new Map<string, Type>();
  /** Changes of the assignment in progress: each parameter with its previous binding. */
  private readonly changes: (readonly [name: string, before: Type | undefined])[] = [];

  /** Whether each of `from` is assignable to `to`. */
  assignAll(from: readonly Type[], to: readonly Type[]): boolean {
    const fits =
      from.length === to.length && from.every((type, index) => this.fits(type, to[index] ?? types.errorType));
    if (!fits)
      for (const [name, before] of this.changes.toReversed())
        if (before === undefined) this.bound.delete(name);
        else this.bound.set(name, before);
    this.changes.length = 0;
    return fits;
  }

  assign(from: Type, to: Type): boolean {
    return this.assignAll([from], [to]);
  }

  /** Replaces bound parameters; unbound ones stay, or become dyn. */
  substitute(type: Type, unboundToDyn = false): Type {
    switch (type.kind) {
      case "parameter": {
        const bound = this.bound.get(type.name);
        if (bound !== undefined) return this.substitute(bound, unboundToDyn);
        return unboundToDyn ? types.dyn : type;
      }
      case "list": {
        const element = this.substitute(type.element, unboundToDyn);
        return element === type.element ? type : types.list(element, type.data);
      }
      case "map": {
        const key = this.substitute(type.key, unboundToDyn);
        const value = this.substitute(type.value, unboundToDyn);
        return key === type.key && value === type.value ? type : types.map(key, value, type.data);
      }
      case "type": {
        const of = this.substitute(type.of, unboundToDyn);
        return of === type.of ? type : types.meta(of);
      }
      case "opaque": {
        if (type.parameters.length === 0) return type;
        return types.opaque(type.name, ...type.parameters.map((each) => this.substitute(each, unboundToDyn)));
      }
      default:
        return type;
    }
  }

  private fits(from: Type, to: Type): boolean {
    if (to.kind === "parameter") {
      const { valid, known } = this.bind(from, to);
      if (valid) return true;
      if (known) return false;
    }
    if (from.kind === "parameter") return this.bind(to, from).valid;
    if (isWild(from) || isWild(to)) return true;
    if (from.kind === "null_type") return isNullable(to);
    if (to.kind === "null_type") return isNullable(from);
    switch (from.kind) {
      case "list":
        return to.kind === "list" && this.fits(from.element, to.element);
      case "map":
        return to.kind === "map" && this.fits(from.key, to.key) && this.fits(from.value, to.value);
      case "type":
        return to.kind === "type";
      case "object":
        return to.kind === "object" && from.name === to.name;
      case "opaque":
        return (
          to.kind === "opaque" &&
          from.name === to.name &&
          from.parameters.length === to.parameters.length &&
          from.parameters.every((each, index) => this.fits(each, to.parameters[index] ?? types.errorType))
        );
      default:
        return from.kind === to.kind;
    }
  }

  /** Binds `parameter` to `type`, if that is consistent; `known` is its previous binding. */
  private bind(type: Type, parameter: TypeParameter): { valid: boolean; known: boolean } {
    if (type.kind === "parameter" && type.name === parameter.name) return { valid: true, known: true };
    const bound = this.bound.get(parameter.name);
    if (bound === undefined) {
      if (this.occurs(parameter, type)) return { valid: false, known: false };
      this.set(parameter, type);
      return { valid: true, known: false };
    }
    if (sameType(type, bound)) return { valid: true, known: true };
    if (!this.fits(type, bound)) return { valid: false, known: true };
    const general = mostGeneral(type, bound);
    if (!this.occurs(parameter, general)) this.set(parameter, general);
    return { valid: true, known: true };
  }

  private set({ name }: TypeParameter, type: Type): void {
    this.changes.push([name, this.bound.get(name)]);
    this.bound.set(name, type);
  }

  private occurs(parameter: TypeParameter, within: Type): boolean {
    switch (within.kind) {
      case "parameter": {
        if (within.name === parameter.name) return true;
        const bound = this.bound.get(within.name);
        return bound !== undefined && this.occurs(parameter, bound);
      }
      case "list":
        return this.occurs(parameter, within.element);
      case "map":
        return this.occurs(parameter, within.key) || this.occurs(parameter, within.value);
      case "opaque":
        return within.parameters.some((each) => this.occurs(parameter, each));
      default:
        return false;
    }
  }
}

export function isWild(type: Type): boolean {
  return type.kind === "dyn" || type.kind === "error";
}

/** The more general of two types that are assignable to each other. */
export function mostGeneral(a: Type, b: Type): Type {
  return isAtMostAsSpecific(a, b) ? a : b;
}

function isAtMostAsSpecific(a: Type, b: Type): boolean {
  if (a.kind === "dyn" || a.kind === "parameter") return true;
  if (b.kind === "dyn" || b.kind === "parameter") return false;
  switch (a.kind) {
    case "list":
      return b.kind === "list" && isAtMostAsSpecific(a.element, b.element);
    case "map":
      return b.kind === "map" && isAtMostAsSpecific(a.key, b.key) && isAtMostAsSpecific(a.value, b.value);
    case "opaque":
      return (
        b.kind === "opaque" &&
        a.name === b.name &&
        a.parameters.length === b.parameters.length &&
        a.parameters.every((each, index) => isAtMostAsSpecific(each, b.parameters[index] ?? types.errorType))
      );
    case "type":
      return b.kind === "type";
    default:
      return sameType(a, b);
  }
}

function isNullable(type: Type): boolean {
  switch (type.kind) {
    case "null_type":
    case "object":
    case "duration":
    case "timestamp":
      return true;
    case "opaque":
      return type.name !== "optional_type";
    default:
      return false;
  }
}
