/** The order of a merged list. */
import { isObject, type Json } from "../json/json.ts";
import { getKey } from "../json/own-key.ts";

export interface ListMerge {
  /** Empty for lists of scalars, which are their own keys. */
  readonly mergeKey: string;
}

/**
 * Items that `order` names stand in that order; the others keep their places among the items of `before`, where the two
 * orders agree.
 */
export function inOrderOf(
  merged: readonly Json[],
  order: readonly Json[],
  before: readonly Json[],
  { mergeKey }: ListMerge,
): readonly Json[] {
  const orderOf = ranks(order, mergeKey);
  const placeOf = ranks(before, mergeKey);
  const id = (item: Json) => identity(item, mergeKey);
  const byRank = (rank: ReadonlyMap<Json, number>) => (a: Json, b: Json) =>
    (rank.get(id(a)) ?? 0) - (rank.get(id(b)) ?? 0);
  const ordered = merged.filter((item) => orderOf.has(id(item))).sort(byRank(orderOf));
  const others = merged.filter((item) => !orderOf.has(id(item))).sort(byRank(placeOf));
  const result: Json[] = [];
  let next = 0;
  for (const item of ordered) {
    const place = placeOf.get(id(item));
    for (; next < others.length; next++) {
      const other = others[next] ?? null;
      const otherPlace = placeOf.get(id(other));
      if (place === undefined || otherPlace === undefined || otherPlace >= place) break;
      result.push(other);
    }
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

export function matching(a: Json, b: Json, mergeKey: string): boolean {
  return identity(a, mergeKey) === identity(b, mergeKey);
}

export function withoutScalars(list: readonly Json[], unwanted: readonly Json[]): readonly Json[] {
  const gone = new Set(unwanted);
  return list.filter((item) => !gone.has(item));
}

function identity(item: Json, mergeKey: string): Json {
  return mergeKey !== "" && isObject(item) ? (getKey(item, mergeKey) ?? null) : item;
}

function ranks(list: readonly Json[], mergeKey: string): ReadonlyMap<Json, number> {
  const ranks = new Map<Json, number>();
  for (const [i, item] of list.entries()) {
    const id = identity(item, mergeKey);
    if (!ranks.has(id)) ranks.set(id, i);
  }
  return ranks;
}
