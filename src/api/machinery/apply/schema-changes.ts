/**
 * Adapts a set that was written under an older schema: the owner of a part of a value that has become atomic owns all
 * of it. (A value that has become granular needs no change: owning it implies nothing about its parts.)
 */
import type { Schema } from "../schema/schema.ts";
import { type FieldSet, leaf } from "./field-set.ts";
import type { PathElement } from "./path-element.ts";
import { fieldSchema, itemSchema } from "./shape.ts";

/** The set itself if it fits the schema. Given `paths`, only looks where they lead. */
export function fitToSchema(set: FieldSet, schema: Schema, paths: FieldSet = set): FieldSet {
  if (set.children.size === 0 || schema.type === "any") return set;
  if (isAtomic(schema)) return leaf;
  let children: Map<PathElement, FieldSet> | undefined;
  const fewer = set.children.size < paths.children.size ? set : paths;
  for (const element of fewer.children.keys()) {
    const below = paths.children.get(element);
    const child = set.children.get(element);
    if (below === undefined || child === undefined || child.children.size === 0) continue;
    const part = element.startsWith("f:") ? fieldSchema(schema, element.slice(2)) : itemSchema(schema);
    const fitted = fitToSchema(child, part, below);
    if (fitted === child) continue;
    children ??= new Map(set.children);
    children.set(element, fitted);
  }
  return children === undefined ? set : { member: set.member, children };
}

function isAtomic(schema: Schema): boolean {
  if (schema.type === "list") return schema.listType === "atomic";
  return (schema.type === "object" || schema.type === "map") && schema.atomic === true;
}
