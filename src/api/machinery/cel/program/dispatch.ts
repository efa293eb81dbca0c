/** Chooses an overload by the values, where types are known only at run time. */

import { isWild } from "../check/unify.ts";
import type { Overload } from "../functions/function.ts";
import type { Type } from "../values/type.ts";
import {
  CelError,
  Duration,
  ListValue,
  MapValue,
  noSuchOverload,
  ObjectValue,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from "../values/value.ts";

/** Whether a parameter accepts a value; for lists and maps the outermost layer and the first item count. */
export function accepts(parameter: Type, value: Value): boolean {
  switch (parameter.kind) {
    case "dyn":
    case "parameter":
    case "error":
      return true;
    case "bool":
      return typeof value === "boolean";
    case "int":
      return typeof value === "bigint";
    case "double":
      return typeof value === "number";
    case "string":
      return typeof value === "string";
    case "uint":
      return value instanceof Uint;
    case "bytes":
      return value instanceof Uint8Array;
    case "null_type":
      return value === null;
    case "duration":
      return value instanceof Duration;
    case "timestamp":
      return value instanceof Timestamp;
    case "type":
      return value instanceof TypeValue;
    case "list":
      return value instanceof ListValue && acceptsFirst(parameter.element, value);
    case "map":
      return value instanceof MapValue;
    case "object":
      return value instanceof Opaque
        ? value.type.kind === "object" && value.type.name === parameter.name
        : value instanceof ObjectValue && value.type.name === parameter.name;
    case "opaque":
      if (parameter.name === "optional_type") return value instanceof Optional;
      return value instanceof Opaque && value.type.kind === "opaque" && value.type.name === parameter.name;
  }
}

function acceptsFirst(element: Type, list: ListValue): boolean {
  if (list.size === 0 || element.kind === "list" || element.kind === "map") return true;
  const first = list.at(0);
  return first instanceof CelError || accepts(element, first);
}

/** Whether the parameter accepts all values of this type. */
export function surelyAccepts(parameter: Type, argument: Type): boolean {
  if (parameter.kind === "dyn" || parameter.kind === "parameter") return true;
  if (isWild(argument) || argument.kind === "parameter") return false;
  // JSON objects are maps at run time: only run-time checks distinguish those that an expression constructed.
  if (parameter.kind === "list") return argument.kind === "list" && surelyAccepts(parameter.element, argument.element);
  return parameter.kind === argument.kind;
}

/** The first overload that accepts the values. */
export function choose(overloads: readonly Overload[], args: readonly Value[], name: string): Overload | CelError {
  for (const overload of overloads) {
    const { parameters } = overload;
    if (parameters.length === args.length && parameters.every((type, index) => accepts(type, args[index] ?? null)))
      return overload;
  }
  return isOperator(name) ? noSuchOverload() : noSuchOverload(name, args);
}

function isOperator(name: string): boolean {
  return name.includes("_") && !/^[a-z]/i.test(name);
}
