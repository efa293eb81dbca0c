/**
 * Which paths were added, modified or removed between two values.
 *
 * 1. A path is in at most one of the three sets. A map or list itself is added or removed, never modified: its parts
 *    are.
 * 2. Identical parts are not walked, and lists whose items did not move are compared by position. A path is written
 *    only where something changed.
 */

import { equalJson } from "../json/equal.ts";
import { isObject, type Json, type JsonObject } from "../json/json.ts";
import { getKey } from "../json/own-key.ts";
import type { Schema } from "../schema/schema.ts";
import { type FieldFilter, type FieldSet, isEmpty, leaf, union, WalkedSetBuilder } from "./field-set.ts";
import { allPaths } from "./owned-paths.ts";
import { fieldElement, type PathElement } from "./path-element.ts";
import {
  asList,
  asMap,
  declaredFields,
  isEmptyMap,
  itemElement,
  itemSchema,
  partSchema,
  type Shape,
  sameItem,
  shapeOf,
} from "./shape.ts";

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

export function compare(schema: Schema, before: Json, after: Json): Comparison {
  const walk = new Walk();
  walk.visit(schema, before, isObject(before) && isObject(after) ? withEqualFieldsOf(before, after) : after);
  return { added: walk.added.build(), modified: walk.modified.build(), removed: walk.removed.build() };
}

/** Most writes change one or two fields of an object. Equal ones are found faster by comparison than by the schema. */
function withEqualFieldsOf(before: JsonObject, after: JsonObject): JsonObject {
  const shared: Record<string, Json> = { ...after };
  for (const name of Object.keys(shared)) {
    const was = getKey(before, name);
    if (typeof was === "object" && was !== shared[name] && equalJson(was, shared[name])) shared[name] = was;
  }
  return shared;
}

export function isSame({ added, modified, removed }: Comparison): boolean {
  return isEmpty(added) && isEmpty(modified) && isEmpty(removed);
}

export function touched({ added, modified, removed }: Comparison): FieldSet {
  return union(union(added, modified), removed);
}

export function filterComparison(
  { added, modified, removed }: Comparison,
  filter: FieldFilter | undefined,
): Comparison {
  if (filter === undefined) return { added, modified, removed };
  return { added: filter(added), modified: filter(modified), removed: filter(removed) };
}

class Walk {
  readonly added = new WalkedSetBuilder();
  readonly modified = new WalkedSetBuilder();
  readonly removed = new WalkedSetBuilder();
  readonly #path: PathElement[] = [];

  visit(schema: Schema, before: Json | undefined, after: Json | undefined): void {
    if (before === after) return;
    if (before === undefined) {
      if (after !== undefined) this.added.graft(this.#path, allPaths(schema, after));
    } else if (after === undefined) {
      this.removed.graft(this.#path, allPaths(schema, before));
    } else {
      const was = shapeOf(schema, before);
      const is = shapeOf(schema, after);
      if (was !== is) this.#visitAs(was, schema, before, after);
      this.#visitAs(is, schema, before, after);
    }
  }

  #visitAs(shape: Shape, schema: Schema, before: Json, after: Json): void {
    const hasParts =
      (shape === "map" && this.#visitMap(schema, asMap(before), asMap(after))) ||
      (shape === "list" && this.#visitList(schema, asList(before), asList(after)));
    if (!hasParts && !equalJson(before, after)) this.modified.graft(this.#path, leaf);
  }

  /** False when both sides are empty: then the value is a leaf. */
  #visitMap(schema: Schema, before: JsonObject | undefined, after: JsonObject | undefined): boolean {
    if (isEmptyMap(before) && isEmptyMap(after)) return false;
    const declared = declaredFields(schema);
    for (const name in before) {
      const was = before[name];
      const is = after === undefined ? undefined : getKey(after, name);
      if (was !== is) this.#visitPart(partSchema(schema, declared, name), fieldElement(name), was, is);
    }
    for (const name in after) {
      if (before !== undefined && Object.hasOwn(before, name)) continue;
      this.#visitPart(partSchema(schema, declared, name), fieldElement(name), undefined, after[name]);
    }
    return true;
  }

  #visitPart(schema: Schema, element: PathElement, before: Json | undefined, after: Json | undefined): void {
    this.#path.push(element);
    this.visit(schema, before, after);
    this.#path.pop();
    this.added.leave(this.#path.length);
    this.modified.leave(this.#path.length);
    this.removed.leave(this.#path.length);
  }

  #visitList(schema: Schema, before: readonly Json[] = [], after: readonly Json[] = []): boolean {
    if (before.length === 0 && after.length === 0) return false;
    if (isUnchanged(schema, before, after)) return true;
    const [was, is] = [itemsByElement(schema, before), itemsByElement(schema, after)];
    for (const [element, items] of was) this.#visitItems(itemSchema(schema), element, items, is.get(element) ?? []);
    for (const [element, items] of is) if (!was.has(element)) this.#visitItems(itemSchema(schema), element, [], items);
    return true;
  }

  /** Items that share their keys are one leaf, which is added or removed as a whole. */
  #visitItems(schema: Schema, element: PathElement, before: readonly Json[], after: readonly Json[]): void {
    if (before.length <= 1 && after.length <= 1) {
      this.#visitPart(schema, element, before[0], after[0]);
      return;
    }
    const path = [...this.#path, element];
    if (before.length > 1 && after.length > 1) {
      if (!equalJson(before, after)) this.modified.graft(path, leaf);
    } else if (before.length > 1) {
      if (after.length === 1) this.#visitPart(schema, element, undefined, after[0]);
      this.removed.graft(path, leaf);
    } else {
      if (before.length === 1) this.#visitPart(schema, element, before[0], undefined);
      this.added.graft(path, leaf);
    }
  }
}

function isUnchanged(schema: Schema, before: readonly Json[], after: readonly Json[]): boolean {
  if (before.length !== after.length) return false;
  for (let i = 0; i < before.length; i++) {
    const item = before[i] as Json;
    const other = after[i] as Json;
    if (item !== other && !(sameItem(schema, item, other) && equalJson(item, other))) return false;
  }
  return true;
}

function itemsByElement(schema: Schema, list: readonly Json[]): Map<PathElement, Json[]> {
  const items = new Map<PathElement, Json[]>();
  for (const item of list) {
    const element = itemElement(schema, item);
    const same = items.get(element);
    if (same === undefined) items.set(element, [item]);
    else same.push(item);
  }
  return items;
}
