/**
 * Selects parts of a value by their paths: everything but them, or only them.
 *
 * 1. Only paths in the set are removed. A container that loses its last part this way becomes null.
 * 2. Unchanged parts are shared with the given value.
 */
import { isObject, type Json } from "../json/json.ts";
import { type OpenObject, setKey } from "../json/own-key.ts";
import type { Schema } from "../schema/schema.ts";
import { type FieldSet, isEmpty } from "./field-set.ts";
import { fieldElement } from "./path-element.ts";
import { declaredFields, fieldSchema, isEmptyMap, itemElement, itemSchema, partSchema, shapeOf } from "./shape.ts";

/** The value without the paths in the set. */
export function removeItems(schema: Schema, value: Json, paths: FieldSet): Json {
  if (isEmpty(paths)) return value;
  const shape = shapeOf(schema, value);
  if (shape === "map" && isObject(value)) {
    const rest: OpenObject = {};
    for (const name in value) {
      const part = value[name] as Json;
      const taken = paths.children.get(fieldElement(name));
      if (taken?.member) continue;
      setKey(rest, name, taken === undefined ? part : removeItems(fieldSchema(schema, name), part, taken));
    }
    return isEmptyMap(rest) ? null : rest;
  }
  if (shape === "list" && Array.isArray(value)) {
    const rest: Json[] = [];
    for (const item of value) {
      const taken = paths.children.get(itemElement(schema, item));
      if (!taken?.member) rest.push(taken === undefined ? item : removeItems(itemSchema(schema), item, taken));
    }
    return rest.length === 0 ? null : rest;
  }
  return value;
}

/**
 * The part of the value that the set owns; undefined when it owns none of it. Items of lists keep their keys only if
 * those are owned.
 */
export function extractItems(schema: Schema, value: Json, paths: FieldSet): Json | undefined {
  const shape = shapeOf(schema, value);
  if (shape === "map" && isObject(value)) {
    const part: OpenObject = {};
    for (const name in value) {
      const owned = paths.children.get(fieldElement(name));
      if (owned === undefined) continue;
      const extracted = extractItems(fieldSchema(schema, name), value[name] as Json, owned);
      if (extracted !== undefined) setKey(part, name, extracted);
    }
    return paths.member || Object.keys(part).length > 0 ? part : undefined;
  }
  if (shape === "list" && Array.isArray(value)) {
    const part: Json[] = [];
    for (const item of value) {
      const owned = paths.children.get(itemElement(schema, item));
      const extracted = owned === undefined ? undefined : extractItems(itemSchema(schema), item, owned);
      if (extracted !== undefined) part.push(extracted);
    }
    return paths.member || part.length > 0 ? part : undefined;
  }
  return paths.member ? value : undefined;
}

/** Adds structures that have owned fields, so that they are removed when nothing is left in them. */
export function withStructures(schema: Schema, set: FieldSet): FieldSet {
  if (set.children.size === 0) return set;
  const declared = declaredFields(schema);
  let children: Map<string, FieldSet> | undefined;
  for (const [element, child] of set.children) {
    if (child.children.size === 0) continue;
    const isField = element.startsWith("f:");
    const name = element.slice(2);
    const inner = withStructures(isField ? partSchema(schema, declared, name) : itemSchema(schema), child);
    const isStructure = isField && !inner.member && declared?.has(name) === true;
    if (inner === child && !isStructure) continue;
    children ??= new Map(set.children);
    children.set(element, isStructure ? { member: true, children: inner.children } : inner);
  }
  return children === undefined ? set : { member: set.member, children };
}
