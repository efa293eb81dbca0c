/** Optional values: `optional.of(x)`, `a.?b.orValue(c)`, `x.optMap(v, …)`. */
import { zeroSeconds } from "../../scalars/time.ts";
import { type FunctionDeclaration, fn, global, type Library, member } from "../functions/function.ts";
import type { Expr } from "../syntax/ast.ts";
import { type Macro, MacroFault } from "../syntax/macro.ts";
import { Builder, simpleName } from "../syntax/standard-macros.ts";
import * as types from "../values/type.ts";
import {
  ArrayList,
  CelError,
  Duration,
  type ListValue,
  none,
  Opaque,
  Optional,
  type Outcome,
  sizeOf,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from "../values/value.ts";

const t = types.parameter("T");
const k = types.parameter("K");
const v = types.parameter("V");
const optionalOf = types.optional;

function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0n || value === 0) return true;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Duration) return value.nanos === 0n;
  if (value instanceof Timestamp) return value.nanos === BigInt(zeroSeconds) * 1_000_000_000n;
  if (value instanceof TypeValue) return false;
  if (value instanceof Optional) return value.value === undefined;
  if (value instanceof Opaque) return value.isZero;
  return sizeOf(value) === 0;
}

function unwrap(list: ListValue): Outcome {
  const values: Value[] = [];
  for (let index = 0; index < list.size; index++) {
    const item = list.at(index);
    if (item instanceof CelError) return item;
    if (item instanceof Optional && item.value !== undefined) values.push(item.value);
  }
  return new ArrayList(values);
}

function itemAt(list: ListValue, index: number): Outcome {
  if (list.size === 0) return none;
  const item = list.at(index);
  return item instanceof CelError ? item : new Optional(item);
}

const functions: readonly FunctionDeclaration[] = [
  fn(
    "optional.of",
    global("optional_of", [t], optionalOf(t), (value: Value) => new Optional(value)),
  ),
  fn(
    "optional.ofNonZeroValue",
    global("optional_ofNonZeroValue", [t], optionalOf(t), (value: Value) =>
      isZero(value) ? none : new Optional(value),
    ),
  ),
  fn(
    "optional.none",
    global("optional_none", [], optionalOf(t), () => none),
  ),
  fn("optional.unwrap", global("optional_unwrap", [types.list(optionalOf(t))], types.list(t), unwrap)),
  fn("unwrapOpt", member("optional_unwrapOpt", [types.list(optionalOf(t))], types.list(t), unwrap)),
  fn(
    "hasValue",
    member("optional_hasValue", [optionalOf(t)], types.bool, ({ value }: Optional) => value !== undefined),
  ),
  fn(
    "value",
    member("optional_value", [optionalOf(t)], t, ({ value }: Optional) =>
      value === undefined ? new CelError("optional.none() dereference") : value,
    ),
  ),
  fn(
    "or",
    member(
      "optional_or_optional",
      [optionalOf(t), optionalOf(t)],
      optionalOf(t),
      (first: Optional, second: Optional) => (first.value === undefined ? second : first),
    ),
  ),
  fn(
    "orValue",
    member(
      "optional_orValue_value",
      [optionalOf(t), t],
      t,
      ({ value }: Optional, other: Value) => value ?? fallback(value, other),
    ),
  ),
  fn(
    "first",
    member("list_first", [types.list(t)], optionalOf(t), (list: ListValue) => itemAt(list, 0)),
  ),
  fn(
    "last",
    member("list_last", [types.list(t)], optionalOf(t), (list: ListValue) => itemAt(list, list.size - 1)),
  ),
  // compile.ts evaluates look-ups; these declare their types.
  fn(
    "_[_]",
    global("optional_list_index_int", [optionalOf(types.list(v)), types.int], optionalOf(v), () => none),
    global("optional_map_index_value", [optionalOf(types.map(k, v)), k], optionalOf(v), () => none),
  ),
  fn(
    "_[?_]",
    global("list_optindex_optional_int", [types.list(v), types.int], optionalOf(v), () => none),
    global("optional_list_optindex_optional_int", [optionalOf(types.list(v)), types.int], optionalOf(v), () => none),
    global("map_optindex_optional_value", [types.map(k, v), k], optionalOf(v), () => none),
    global("optional_map_optindex_optional_value", [optionalOf(types.map(k, v)), k], optionalOf(v), () => none),
  ),
];

/** An optional may hold null, which is a value. */
function fallback(value: Value | undefined, other: Value): Value {
  return value === undefined ? other : value;
}

/** Users cannot write this name. */
const heldTarget = "@target";

/**
 * `target.optMap(name, e)` is `held.hasValue() ? optional.of(e with name = held.value()) : optional.none()`, where held
 * is the target, evaluated once.
 */
function mapper(name: string, wrap: (make: Builder, mapped: Expr) => Expr): Macro {
  return {
    name,
    member: true,
    arguments: 2,
    expand: ({ target, args: [variable, mapped], offset }) => {
      const named = simpleName(variable, `${name}() variable name must be a simple identifier`);
      if (named instanceof MacroFault || target === undefined || mapped === undefined)
        return named instanceof MacroFault ? named : undefined;
      const make = new Builder(offset);
      const held = (): Expr => make.ident(heldTarget);
      const bound = make.bind(named, make.memberCall(held(), "value"), mapped);
      return make.bind(
        heldTarget,
        target,
        make.call("_?_:_", make.memberCall(held(), "hasValue"), wrap(make, bound), make.call("optional.none")),
      );
    },
  };
}

export const optionalTypes: Library = {
  name: "cel.lib.optional",
  functions,
  types: [{ type: optionalOf(types.dyn) }],
  macros: [
    mapper("optMap", (make, mapped) => make.call("optional.of", mapped)),
    mapper("optFlatMap", (_, mapped) => mapped),
  ],
};
