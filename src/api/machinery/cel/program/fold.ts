/**
 * Runs comprehensions.
 *
 * 1. Lists and maps that a comprehension builds item by item grow in place: nothing else sees the accumulator while it
 *    grows.
 * 2. Each iteration counts against the budget, even one that costs nothing.
 */

import { GrowingList } from "../values/growing.ts";
import { HashMap } from "../values/hash-map.ts";
import { ArrayList, CelError, ListValue, MapValue, noSuchOverload, type Outcome } from "../values/value.ts";
import type { Frame, Step } from "./frame.ts";

export interface Fold {
  readonly range: Step;
  readonly variable: number;
  readonly secondVariable: number | undefined;
  readonly accumulator: number;
  readonly init: Step;
  /** What grows in place, starting empty. */
  readonly builds: "list" | "map" | undefined;
  readonly condition: Step;
  readonly step: Step;
  readonly result: Step;
}

export function runFold(fold: Fold, frame: Frame): Outcome {
  const range = fold.range(frame);
  if (range instanceof CelError) return range;
  const initial = fold.init(frame);
  frame.slots[fold.accumulator] =
    fold.builds === "list" ? new GrowingList() : fold.builds === "map" ? new HashMap() : initial;
  if (range instanceof ListValue) overList(fold, frame, range);
  else if (range instanceof MapValue) overMap(fold, frame, range);
  else return noSuchOverload();
  const result = fold.result(frame);
  return result instanceof GrowingList ? new ArrayList(result.items) : result;
}

function overList(fold: Fold, frame: Frame, list: ListValue): void {
  const { variable, secondVariable } = fold;
  for (let index = 0; index < list.size; index++) {
    if (secondVariable === undefined) {
      frame.slots[variable] = list.at(index);
    } else {
      frame.slots[variable] = BigInt(index);
      frame.slots[secondVariable] = list.at(index);
    }
    if (!iterate(fold, frame)) return;
  }
}

function overMap(fold: Fold, frame: Frame, map: MapValue): void {
  const { variable, secondVariable } = fold;
  for (const key of map.keys()) {
    frame.slots[variable] = key;
    if (secondVariable !== undefined) frame.slots[secondVariable] = map.get(key) ?? null;
    if (!iterate(fold, frame)) return;
  }
}

/** False ends the loop. */
function iterate(fold: Fold, frame: Frame): boolean {
  frame.countIteration();
  if (fold.condition(frame) === false) return false;
  const accumulated = fold.step(frame);
  frame.slots[fold.accumulator] = accumulated;
  return fold.builds === undefined || !(accumulated instanceof CelError);
}
