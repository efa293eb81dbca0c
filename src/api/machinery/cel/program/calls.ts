/** Function calls: evaluate the arguments, call the function, charge its cost. */

import type { Overload } from "../functions/function.ts";
import { compileRegex } from "../standard/text-functions.ts";
import { errorType, type Type } from "../values/type.ts";
import { CelError, type Outcome, type Value } from "../values/value.ts";
import { choose, surelyAccepts } from "./dispatch.ts";
import type { Step } from "./frame.ts";
import type { Node } from "./node.ts";

/** The checked types decide whether an overload must be chosen at run time. */
export function called(
  name: string,
  overloads: readonly Overload[],
  args: readonly Node[],
  types: readonly Type[],
): Step {
  const steps = args.map(({ run }) => run);
  const [overload] = overloads;
  const certain =
    overload !== undefined &&
    overloads.length === 1 &&
    overload.parameters.every((type, index) => surelyAccepts(type, types[index] ?? errorType));
  if (!certain) return dispatched(name, overloads, steps);
  const [first, second] = steps;
  if (steps.length === 1 && first !== undefined) return unaryCall(overload, first);
  if (steps.length === 2 && first !== undefined && second !== undefined)
    return binaryCall(withPattern(overload, args[1]?.constant?.value), first, second);
  return manyCall(overload, steps);
}

/** A pattern that is a literal is compiled once. */
function withPattern(overload: Overload, pattern: Value | undefined): Overload {
  const regex = overload.id === "matches_string" && typeof pattern === "string" ? compileRegex(pattern) : undefined;
  if (regex === undefined || regex instanceof CelError) return overload;
  return { ...overload, call: (text: Value): Outcome => typeof text === "string" && regex.matcher(text).find() };
}

function unaryCall({ call, cost }: Overload, arg: Step): Step {
  return (frame) => {
    const value = arg(frame);
    if (value instanceof CelError) {
      frame.charge(1);
      return value;
    }
    const result = call(value);
    frame.charge(cost === undefined || result instanceof CelError ? 1 : cost([value], result));
    return result;
  };
}

function binaryCall({ call, cost }: Overload, left: Step, right: Step): Step {
  return (frame) => {
    const first = left(frame);
    if (first instanceof CelError) return first;
    const second = right(frame);
    if (second instanceof CelError) {
      frame.charge(1);
      return second;
    }
    const result = call(first, second);
    frame.charge(cost === undefined || result instanceof CelError ? 1 : cost([first, second], result));
    return result;
  };
}

function manyCall({ call, cost }: Overload, args: readonly Step[]): Step {
  return (frame) => {
    const values: Value[] = [];
    for (const arg of args) {
      const value = arg(frame);
      if (value instanceof CelError) {
        if (values.length === args.length - 1) frame.charge(1);
        return value;
      }
      values.push(value);
    }
    const result = call(...values);
    frame.charge(cost === undefined || result instanceof CelError ? 1 : cost(values, result));
    return result;
  };
}

function dispatched(name: string, overloads: readonly Overload[], args: readonly Step[]): Step {
  return (frame) => {
    const values: Value[] = [];
    for (const arg of args) {
      const value = arg(frame);
      if (value instanceof CelError) {
        if (values.length === args.length - 1) frame.charge(1);
        return value;
      }
      values.push(value);
    }
    const overload = choose(overloads, values, name);
    if (overload instanceof CelError) {
      frame.charge(1);
      return overload;
    }
    const result = overload.call(...values);
    frame.charge(overload.cost === undefined || result instanceof CelError ? 1 : overload.cost(values, result));
    return result;
  };
}
