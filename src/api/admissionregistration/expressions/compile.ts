/**
 * Expressions of policies and match conditions, compiled in the environment of their place, with the type that it
 * requires.
 *
 * 1. An expression that does not compile is kept with its fault: a write of it is refused, and its evaluation reports
 *    the fault.
 */

import { type Environment, type Program, types } from "../../machinery/cel/index.ts";
import { admission, baseEnvironment, jsonPatchType, objectType } from "../../machinery/cel/libraries/index.ts";
import { once } from "../../machinery/schema/memo.ts";

/** The type that an expression must return. */
export type Returns = "bool" | "string" | "stringOrNull" | "object" | "patches" | "any";

export type Expression =
  | { readonly text: string; readonly ok: true; readonly type: types.Type; readonly program: Program }
  | {
      readonly text: string;
      readonly ok: false;
      readonly fault: string;
      /** The expression is valid CEL, but cannot be evaluated: an internal error. */
      readonly internal: boolean;
    };

export interface Place {
  /** `params` exist. */
  readonly params?: boolean;
  /** Default: true. */
  readonly authorizer?: boolean;
  /** Objects and patches can be constructed. */
  readonly patches?: boolean;
  /** The variables composed so far; undefined where there are none. */
  readonly variables?: ReadonlyMap<string, types.Field> | undefined;
}

export function compileExpression(text: string, returns: Returns, place: Place = {}): Expression {
  return compileIn(admission(base(), place), text, returns);
}

export function compileIn(environment: Environment, text: string, returns: Returns): Expression {
  const compilation = environment.compile(text);
  if (!compilation.ok) {
    const internal = compilation.stage === "program";
    const what = internal ? "program instantiation failed" : "compilation failed";
    return { text, ok: false, fault: `${what}: ${compilation.issues}`, internal };
  }
  const { type, program } = compilation;
  const fault = typeFault(type, RETURNED[returns]);
  return fault === undefined
    ? { text, ok: true, type, program }
    : { text, ok: false, fault: `must evaluate to ${fault}`, internal: false };
}

/** The environment that all expressions share: immutable, created on first use. */
export const base: () => Environment = once(baseEnvironment);

/** Undefined: any type is accepted. */
const RETURNED: Readonly<Record<Returns, readonly types.Type[] | undefined>> = {
  bool: [types.bool],
  string: [types.string],
  stringOrNull: [types.string, types.nullType],
  object: [objectType],
  patches: [types.list(jsonPatchType)],
  any: undefined,
};

function typeFault(type: types.Type, wanted: readonly types.Type[] | undefined): string | undefined {
  if (wanted === undefined || wanted.some((one) => types.sameType(one, type))) return undefined;
  const names = wanted.map(typeText);
  const choice = names.length === 1 ? names[0] : `one of [${names.join(" ")}]`;
  return `${choice} but got ${typeText(type)}`;
}

/** The full names of the types: the checker abbreviates some. */
function typeText(type: types.Type): string {
  const parameters = parametersOf(type);
  return parameters.length === 0
    ? types.typeName(type)
    : `${types.typeName(type)}(${parameters.map(typeText).join(", ")})`;
}

function parametersOf(type: types.Type): readonly types.Type[] {
  switch (type.kind) {
    case "list":
      return [type.element];
    case "map":
      return [type.key, type.value];
    case "type":
      return [type.of];
    case "opaque":
      return type.parameters;
    default:
      return [];
  }
}
