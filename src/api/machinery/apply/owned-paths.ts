/**
 * The paths of a value: those that are owned when it is applied, and all paths.
 *
 * 1. Owned are leaves, items of lists, keys of maps, and empty structures; other structures are owned through their
 *    fields.
 * 2. Items of a list that share their keys are one leaf.
 */
import type { Json, JsonObject } from "../json/json.ts";
import type { Schema } from "../schema/schema.ts";
import { emptySet, type FieldSet, leaf } from "./field-set.ts";
import { fieldElement, type PathElement } from "./path-element.ts";
import { asList, asMap, declaredFields, isEmptyMap, itemElement, itemSchema, partSchema, shapeOf } from "./shape.ts";

export function ownedPaths(schema: Schema, value: Json): FieldSet {
  const { children } = tree(schema, value, false, false) ?? emptySet;
  return { member: false, children };
}

/** Each container and each leaf, the value itself included. */
export function allPaths(schema: Schema, value: Json): FieldSet {
  return tree(schema, value, true, true) ?? leaf;
}

/** `member`: whether the value itself is included; `all`: whether structures are. */
function tree(schema: Schema, value: Json, member: boolean, all: boolean): FieldSet | undefined {
  const shape = shapeOf(schema, value);
  if (shape === "leaf") return leaf;
  const children = shape === "map" ? mapParts(schema, asMap(value), all) : listParts(schema, asList(value), all);
  if (children !== undefined && children.size > 0) return { member, children };
  return member ? leaf : undefined;
}

function mapParts(
  schema: Schema,
  map: JsonObject | undefined,
  all: boolean,
): ReadonlyMap<PathElement, FieldSet> | undefined {
  if (isEmptyMap(map)) return undefined;
  const declared = declaredFields(schema);
  const parts = new Map<PathElement, FieldSet>();
  for (const name in map) {
    const value = map[name];
    if (value === undefined) continue;
    const member = all || value === null || !declared?.has(name) || isEmptyObject(value);
    const part = tree(partSchema(schema, declared, name), value, member, all);
    if (part !== undefined) parts.set(fieldElement(name), part);
  }
  return parts;
}

function isEmptyObject(value: Json): boolean {
  const map = asMap(value);
  return map !== undefined && isEmptyMap(map);
}

function listParts(
  schema: Schema,
  list: readonly Json[] | undefined,
  all: boolean,
): ReadonlyMap<PathElement, FieldSet> | undefined {
  if (list === undefined || list.length === 0) return undefined;
  const parts = new Map<PathElement, FieldSet>();
  for (const item of list) {
    const element = itemElement(schema, item);
    const isDuplicate = parts.has(element);
    parts.set(element, isDuplicate ? leaf : (tree(itemSchema(schema), item, true, all) ?? leaf));
  }
  return parts;
}
