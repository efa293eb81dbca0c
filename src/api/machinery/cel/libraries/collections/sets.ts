/** CEL's extension for lists as sets: `sets.contains`, `sets.equivalent`, `sets.intersects`. */

import { type Costs, costSize, sizeRange } from "../../functions/call-costs.ts";
import { addRanges, multiplyRanges, range, scaleRange } from "../../functions/cost.ts";
import { fn, global, type Library } from "../../functions/function.ts";
import { bool, list, parameter } from "../../values/type.ts";
import { CelError, type ListValue, type Outcome } from "../../values/value.ts";
import { tooManyComparisons, ValueSet } from "./value-set.ts";

const listT = list(parameter("T"));

/** Every pair of items, `times` over. */
function comparing(times: 1 | 2): Costs {
  return {
    cost: ([a, b]) => 1 + costSize(a) * costSize(b) * times,
    estimate: ([a, b]) => ({
      cost: addRanges(scaleRange(multiplyRanges(sizeRange(a), sizeRange(b)), times), range(1)),
    }),
  };
}

export const sets: Library = {
  name: "cel.lib.ext.sets",
  functions: [
    fn("sets.contains", global("list_sets_contains_list", [listT, listT], bool, contains, comparing(1))),
    fn("sets.intersects", global("list_sets_intersects_list", [listT, listT], bool, intersects, comparing(1))),
    fn("sets.equivalent", global("list_sets_equivalent_list", [listT, listT], bool, equivalent, comparing(2))),
  ],
};

function contains(all: ListValue, some: ListValue): Outcome {
  return search(all, some, false);
}

function intersects(a: ListValue, b: ListValue): Outcome {
  return search(b, a, true);
}

function equivalent(a: ListValue, b: ListValue): Outcome {
  const result = contains(a, b);
  return result === true ? contains(b, a) : result;
}

/** Whether one of the wanted items is in the list; with `found` false, whether none is missing. */
function search(list: ListValue, wanted: ListValue, found: boolean): Outcome {
  const set = new ValueSet();
  for (let index = 0; index < list.size; index++) {
    const item = list.at(index);
    if (!(item instanceof CelError)) set.add(item);
  }
  for (let index = 0; index < wanted.size; index++) {
    const item = wanted.at(index);
    if (item instanceof CelError) return item;
    if (set.has(item) === found) return found;
    if (set.isExhausted) return tooManyComparisons;
  }
  return !found;
}
