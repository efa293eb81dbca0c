/** Operators that do not evaluate all of their operands, and look-ups in attributes. */
import type { qualify, qualifyIfPresent } from "../values/attribute.ts";
import { CelError, noSuchOverload, Optional } from "../values/value.ts";
import type { Step } from "./frame.ts";
import { attribute, found, type Node, resolver } from "./node.ts";

/** `&&` is decided by false, `||` by true. Either side may decide alone; only if neither does, errors count. */
export function logical(left: Step, right: Step, decides: boolean): Node {
  return {
    run: (frame) => {
      const first = left(frame);
      if (first === decides) return decides;
      const second = right(frame);
      if (second === decides) return decides;
      if (typeof first === "boolean" && typeof second === "boolean") return !decides;
      if (first instanceof CelError) return first;
      return second instanceof CelError ? second : noSuchOverload();
    },
  };
}

export function conditional(condition: Step, yes: Step, no: Step): Node {
  const choose: Step = (frame) => {
    const value = condition(frame);
    if (value === true) return yes(frame);
    if (value === false) return no(frame);
    return value instanceof CelError ? value : noSuchOverload();
  };
  return { run: choose, resolve: choose };
}

export function notStrictlyFalse(arg: Step): Node {
  return {
    run: (frame) => {
      const value = arg(frame);
      frame.charge(1);
      return value !== false;
    },
  };
}

/** `optional.or(other)`, `optional.orValue(value)`: the other is evaluated only if it is needed. */
export function otherwise(first: Step, other: Step, unwraps: boolean): Node {
  return {
    run: (frame) => {
      const value = first(frame);
      if (!(value instanceof Optional)) return value instanceof CelError ? value : noSuchOverload();
      if (value.value === undefined) return other(frame);
      return unwraps ? value.value : value;
    },
  };
}

export function indexed(operand: Step, key: Node, look: typeof qualify | typeof qualifyIfPresent): Node {
  if (key.constant !== undefined) {
    const { value: at } = key.constant;
    return attribute((frame) => {
      const value = operand(frame);
      return found(frame, value instanceof CelError ? value : look(value, at));
    });
  }
  const index = resolver(key);
  return attribute((frame) => {
    const value = operand(frame);
    const at = index(frame);
    if (value instanceof CelError) return found(frame, value);
    return found(frame, at instanceof CelError ? at : look(value, at));
  });
}
