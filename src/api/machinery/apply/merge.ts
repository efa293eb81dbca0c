/**
 * Merges an applied value into the live one.
 *
 * 1. Nothing is removed: where both have a leaf, the applied one wins.
 * 2. Items of lists have the order of the applied list; items that only the live list has stay in front of the shared
 *    item that they preceded.
 * 3. Parts that the applied value does not change are shared with the live value.
 */

import { equalJson } from "../json/equal.ts";
import type { Json } from "../json/json.ts";
import { getKey, type OpenObject, setKey } from "../json/own-key.ts";
import type { Schema } from "../schema/schema.ts";
import type { PathElement } from "./path-element.ts";
import { asList, asMap, fieldSchema, isEmptyMap, itemElement, itemSchema, shapeOf } from "./shape.ts";

export function merge(schema: Schema, live: Json, applied: Json): Json {
  if (live === applied) return live;
  const shape = shapeOf(schema, applied);
  if (shape === "map") return mergeMaps(schema, live, applied);
  if (shape === "list") return mergeLists(schema, live, applied);
  return equalJson(live, applied) ? live : applied;
}

function mergeMaps(schema: Schema, live: Json, applied: Json): Json {
  const [before, over] = [asMap(live), asMap(applied)];
  if (isEmptyMap(over)) return isEmptyMap(before) && !equalJson(live, applied) ? applied : live;
  if (before === undefined) return applied;
  const merged: OpenObject = { ...before };
  let changed = false;
  for (const name in over) {
    const part = getKey(before, name);
    const value = over[name] as Json;
    const result = part === undefined ? value : merge(fieldSchema(schema, name), part, value);
    if (result === part) continue;
    setKey(merged, name, result);
    changed = true;
  }
  return changed ? merged : live;
}

function mergeLists(schema: Schema, live: Json, applied: Json): Json {
  const [before, over] = [asList(live) ?? [], asList(applied) ?? []];
  if (over.length === 0) return before.length === 0 && !equalJson(live, applied) ? applied : live;
  const merged = interleave(indexed(schema, before), indexed(schema, over), itemSchema(schema));
  const isLive = merged.length === before.length && merged.every((item, i) => item === before[i]);
  return isLive ? live : merged;
}

interface Indexed {
  readonly items: readonly Json[];
  readonly elements: readonly PathElement[];
  /** Undefined for an element that several items share: none of them can be merged. */
  readonly byElement: ReadonlyMap<PathElement, Json | undefined>;
}

function indexed(schema: Schema, items: readonly Json[]): Indexed {
  const elements = items.map((item) => itemElement(schema, item));
  const byElement = new Map<PathElement, Json | undefined>();
  for (const [i, element] of elements.entries()) byElement.set(element, byElement.has(element) ? undefined : items[i]);
  return { items, elements, byElement };
}

/**
 * Merges the order of two lists. Shared items follow the applied list; the live list only says what lies between them.
 * A shared live item that is not the next applied one has moved, and is skipped until the applied list reaches it.
 */
function interleave(live: Indexed, applied: Indexed, schema: Schema): Json[] {
  const shared = applied.elements.filter((element) => live.byElement.has(element));
  const placed = new Set<PathElement>();
  const merged: Json[] = [];
  let nextShared = 0;
  let l = 0;
  let a = 0;

  const placeApplied = (): void => {
    const element = applied.elements[a] as PathElement;
    const item = applied.byElement.get(element) as Json;
    const match = live.byElement.get(element);
    merged.push(match === undefined ? item : merge(schema, match, item));
    placed.add(element);
    a++;
    if (element === shared[nextShared]) nextShared++;
  };

  while (l < live.elements.length || a < applied.elements.length) {
    const element = live.elements[l];
    if (element === undefined) {
      placeApplied();
    } else if (!applied.byElement.has(element)) {
      merged.push(live.items[l] as Json);
      l++;
    } else if (element === applied.elements[a]) {
      placeApplied();
      l++;
    } else if (nextShared < shared.length && element !== shared[nextShared]) {
      l++;
    } else {
      if (placed.has(element)) l++;
      if (a < applied.elements.length) placeApplied();
    }
  }
  return merged;
}
