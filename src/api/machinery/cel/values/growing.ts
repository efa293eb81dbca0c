/**
 * Lists and maps that a comprehension builds item by item. They grow in place: nothing else sees the accumulator while
 * it grows.
 */
import { formatKey } from "./attribute.ts";
import { HashMap } from "./hash-map.ts";
import { CelError, ListValue, type MapValue, type Outcome, type Value } from "./value.ts";

/** An ArrayList while it grows. */
export class GrowingList extends ListValue {
  readonly items: Value[] = [];

  override get size(): number {
    return this.items.length;
  }

  override at(index: number): Outcome {
    return this.items[index] ?? null;
  }
}

/** `accumulator + [item]`. */
export function appendTo(accumulated: Outcome, item: Value): Outcome {
  if (accumulated instanceof GrowingList) accumulated.items.push(item);
  return accumulated;
}

/** `cel.@mapInsert(accumulator, key, value)`. */
export function insertInto(accumulated: Outcome, key: Value, value: Value): Outcome {
  if (accumulated instanceof HashMap && !accumulated.add(key, value))
    return new CelError(`insert failed: key ${formatKey(key)} already exists`);
  return accumulated;
}

/** `cel.@mapInsert(accumulator, entries)`. */
export function insertAll(accumulated: Outcome, entries: MapValue): Outcome {
  for (const key of entries.keys()) {
    const value = entries.get(key) ?? null;
    const outcome = value instanceof CelError ? value : insertInto(accumulated, key, value);
    if (outcome instanceof CelError) return outcome;
  }
  return accumulated;
}
