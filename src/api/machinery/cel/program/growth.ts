/**
 * Accumulators that grow in place: `accumulator + [item]` and `cel.@mapInsert(accumulator, …)` charge what cel-go
 * charges, but copy nothing.
 */
import { costs } from "../functions/cost.ts";
import type { Expr } from "../syntax/ast.ts";
import { appendTo, insertAll, insertInto } from "../values/growing.ts";
import { CelError, MapValue, noSuchOverload } from "../values/value.ts";
import type { Step } from "./frame.ts";

/** What an accumulator with this initial value builds. */
export function growsFrom(init: Expr): "list" | "map" | undefined {
  if (init.kind === "list" && init.items.length === 0) return "list";
  return init.kind === "map" && init.entries.length === 0 ? "map" : undefined;
}

/** The item that a call adds with `accumulator + [item]`. */
export function addedItem(name: string, second: Expr): Expr | undefined {
  if (name !== "_+_" || second.kind !== "list" || second.items.length !== 1 || second.optional.size > 0)
    return undefined;
  return second.items[0];
}

/** `isConstant`: the list of this one item is computed at compile time and costs nothing. */
export function appendItem(slot: number, item: Step, isConstant: boolean): Step {
  const cost = 2 + (isConstant ? 0 : costs.listCreate);
  return (frame) => {
    const value = item(frame);
    frame.charge(cost);
    return value instanceof CelError ? value : appendTo(frame.slots[slot] ?? null, value);
  };
}

/** `cel.@mapInsert(accumulator, entries)`. */
export function insertEntries(slot: number, from: Step): Step {
  return (frame) => {
    const entries = from(frame);
    frame.charge(2);
    if (entries instanceof CelError) return entries;
    return entries instanceof MapValue ? insertAll(frame.slots[slot] ?? null, entries) : noSuchOverload();
  };
}

/** `cel.@mapInsert(accumulator, key, value)`. */
export function insertEntry(slot: number, key: Step, entry: Step): Step {
  return (frame) => {
    const at = key(frame);
    const value = entry(frame);
    frame.charge(2);
    if (at instanceof CelError) return at;
    return value instanceof CelError ? value : insertInto(frame.slots[slot] ?? null, at, value);
  };
}
