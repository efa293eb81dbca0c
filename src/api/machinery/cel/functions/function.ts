/**
 * How functions, constants, types and macros of a library are declared.
 *
 *     export const sets: Library = {
 *       name: "kubernetes.lists",
 *       functions: [
 *         fn("isSorted", member("list_int_is_sorted_bool", [list(int)], bool, (items: ListValue) => …, costs)),
 *         fn("isURL", global("is_url_string", [string], bool, (text: string) => …)),
 *       ],
 *     };
 *
 * 1. An implementation gets exactly as many arguments as there are parameters, each in the representation (value.ts) of
 *    its parameter's type; the target of a member function comes first. For a dynamically typed list or map only the
 *    outermost layer is certain: an implementation checks the types of items.
 * 2. An implementation is never called with an error. It returns an error instead of throwing it.
 * 3. Overloads of one function do not overlap. An overload that is declared in two libraries must be the same.
 */

import type { Macro } from "../syntax/macro.ts";
import type { Type } from "../values/type.ts";
import type { Outcome, Value } from "../values/value.ts";
import { type Range, range } from "./cost.ts";

export interface Overload {
  /** Such as `string_to_int`; unique within an environment. */
  readonly id: string;
  /** `target.f(…)` instead of `f(…)`. */
  readonly member: boolean;
  /** The target of a member function is the first. */
  readonly parameters: readonly Type[];
  readonly result: Type;
  readonly call: Implementation;
  /** The cost of one call; 1 if absent. */
  readonly cost?: RunCost;
  /** The estimated cost of one call and the size of its result; cost 1 and unknown size if absent. */
  readonly estimate?: Estimate;
  /**
   * Why a call with these literals can only fail, such as a malformed pattern: the expression is refused when it is
   * written. Arguments that are not literals are undefined.
   */
  readonly refuses?: (literals: readonly (Value | undefined)[]) => string | undefined;
}

/**
 * A method, so that an implementation may declare the representations that it gets: `(text: string, at: bigint) => …`.
 */
export type Implementation = { bivariance(...args: Value[]): Outcome }["bivariance"];
export type RunCost = { bivariance(args: readonly Value[], result: Value): number }["bivariance"];
export type Estimate = (args: readonly SizedNode[]) => CallEstimate;

export interface CallEstimate {
  readonly cost: Range;
  /** For results that have a size: strings, bytes, lists, maps. */
  readonly size?: Range;
}

/** An argument as the estimator sees it. */
export interface SizedNode {
  readonly type: Type;
  /** From the expression itself, or from the schema, or from 0 to unlimited. */
  readonly size: Range;
  /** From the expression itself only. */
  readonly computedSize: Range | undefined;
  /** If the argument is a literal. */
  readonly literal: Value | undefined;
  /** The items of a list, or the keys of a map. */
  readonly element: SizedNode | undefined;
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
}

export interface TypeDeclaration {
  readonly type: Type;
  /** The estimated cost of `==`; by the sizes if absent. */
  readonly equality?: (left: SizedNode, right: SizedNode) => Range;
}

export interface Constant {
  readonly name: string;
  readonly type: Type;
  readonly value: Value;
}

export interface Library {
  /** Such as `kubernetes.lists`. */
  readonly name: string;
  readonly functions?: readonly FunctionDeclaration[];
  /** Types that expressions may name, such as `net.IP`. */
  readonly types?: readonly TypeDeclaration[];
  readonly constants?: readonly Constant[];
  readonly macros?: readonly Macro[];
  /** Types that are too many to be declared one by one. */
  readonly typeNamed?: (name: string) => Type | undefined;
}

type Costs = Pick<Overload, "cost" | "estimate">;
type Traits = Costs & Pick<Overload, "refuses">;

export function fn(name: string, ...overloads: readonly Overload[]): FunctionDeclaration {
  return { name, overloads };
}

export function global(
  id: string,
  parameters: readonly Type[],
  result: Type,
  call: Implementation,
  traits: Traits = {},
): Overload {
  return { id, member: false, parameters, result, call, ...traits };
}

export function member(
  id: string,
  parameters: readonly Type[],
  result: Type,
  call: Implementation,
  traits: Traits = {},
): Overload {
  return { id, member: true, parameters, result, call, ...traits };
}

/** The costs of a function with a constant cost. */
export function fixedCost(cost: number): Required<Costs> {
  return { cost: () => cost, estimate: () => ({ cost: range(cost) }) };
}
