/** Calls with literal arguments that are computed at compile time. */
import type { Overload } from "../functions/function.ts";
import { conversionNames } from "../standard/conversions.ts";
import { hashOf } from "../values/hash-map.ts";
import { CelError, ListValue } from "../values/value.ts";
import { constant, type Node } from "./node.ts";

/** Conversions of literals, and `in` a list of literals. */
export function foldCall(name: string, overloads: readonly Overload[], args: readonly Node[]): Node | undefined {
  const [first, second] = args;
  const [overload] = overloads;
  if (first === undefined || overload === undefined || overloads.length !== 1) return undefined;
  if (conversionNames.has(name) && first.constant !== undefined) {
    const value = overload.call(first.constant.value);
    return value instanceof CelError ? undefined : constant(value);
  }
  if (overload.id === "in_list" && second?.constant?.value instanceof ListValue)
    return membership(first, second.constant.value);
  return undefined;
}

function membership(value: Node, list: ListValue): Node | undefined {
  const hashes = new Set<ReturnType<typeof hashOf>>();
  for (let index = 0; index < list.size; index++) {
    const item = list.at(index);
    const hash = item instanceof CelError ? undefined : hashOf(item);
    if (hash === undefined) return undefined;
    hashes.add(hash);
  }
  const { run } = value;
  return {
    run: (frame) => {
      const wanted = run(frame);
      if (wanted instanceof CelError) return wanted;
      const hash = hashOf(wanted);
      return hash !== undefined && hashes.has(hash);
    },
  };
}
