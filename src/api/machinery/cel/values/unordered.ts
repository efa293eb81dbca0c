/** Lists that a schema declares as sets or as maps: equal in any order, and added by merging. */
import { equal } from "./equality.ts";
import { escapeName } from "./escape.ts";
import type { DataHints } from "./type.ts";
import { CelError, ListValue, MapValue, type Outcome, type Value } from "./value.ts";

type Unordered = NonNullable<DataHints["listType"]>;

/** The identity of an item: itself in a set, its keys in a map. Keys are scalars, whose text is unique. */
function keyOf(item: Outcome, listType: Unordered): string {
  if (listType.type === "set" || !(item instanceof MapValue)) return scalarText(item);
  const key = (name: string): Outcome | undefined => item.get(escapeName(name) ?? name) ?? unexposed(item, name);
  return JSON.stringify(listType.keys.map((name) => scalarText(key(name))));
}

/** A key whose name cannot be written in CEL identifies items, too. */
function unexposed(item: MapValue, name: string): Outcome | undefined {
  const json = item.unknownFields()[name];
  return typeof json === "object" ? undefined : json;
}

function scalarText(value: Outcome | undefined): string {
  return typeof value === "object" || value === undefined ? "" : `${typeof value}:${value}`;
}

function* itemsOf(list: ListValue): Iterable<Outcome> {
  for (let index = 0; index < list.size; index++) yield list.at(index);
}

export function equalInAnyOrder(a: ListValue, b: ListValue, listType: Unordered): boolean {
  const mine = new Map<string, Outcome>();
  for (const item of itemsOf(a)) mine.set(keyOf(item, listType), item);
  for (const item of itemsOf(b)) {
    const match = mine.get(keyOf(item, listType));
    if (match === undefined || match instanceof CelError || item instanceof CelError || !equal(match, item))
      return false;
  }
  return true;
}

/**
 * Items of the left list keep their places; items of the right list replace those with the same key, the rest follows.
 */
export function merged(a: ListValue, b: ListValue, listType: Unordered): Outcome {
  const items: Value[] = [];
  const places = new Map<string, number>();
  for (const list of [a, b])
    for (const item of itemsOf(list)) {
      if (item instanceof CelError) return item;
      const key = keyOf(item, listType);
      const place = places.get(key);
      if (place === undefined) places.set(key, items.push(item) - 1);
      else items[place] = item;
    }
  return new UnorderedList(items, listType);
}

class UnorderedList extends ListValue {
  private readonly items: readonly Value[];
  private readonly listType: Unordered;

  constructor(items: readonly Value[], listType: Unordered) {
    super();
    this.items = items;
    this.listType = listType;
  }

  override get size(): number {
    return this.items.length;
  }

  override at(index: number): Outcome {
    return this.items[index] ?? null;
  }

  override equals(other: ListValue): boolean {
    return equalInAnyOrder(this, other, this.listType);
  }

  override plus(other: ListValue): Outcome {
    return merged(this, other, this.listType);
  }
}
