/**
 * Lists of type `set` have no duplicate items, lists of type `map` no duplicate keys. Compiled once; parts without such
 * lists are not walked.
 */
import { duplicate, type FieldError, type FieldPath, invalid } from "../../machinery/errors/field-error.ts";
import { isObject, type Json, type JsonObject } from "../../machinery/json/json.ts";
import { getKey } from "../../machinery/json/own-key.ts";
import type { Structural } from "../schema/structural.ts";
import { canonical } from "./container-checks.ts";

export type Walk = (value: Json, at: FieldPath, errors: FieldError[]) => void;

/** Undefined if there are no such lists. */
export function compileListTypes(schema: Structural): Walk | undefined {
  const { listType, listKeys, items, properties, additional } = schema;
  const item = items && compileListTypes(items);
  const value = typeof additional === "object" ? compileListTypes(additional) : undefined;
  const fields = new Map<string, Walk>();
  for (const [name, property] of properties) {
    const walk = compileListTypes(property);
    if (walk !== undefined) fields.set(name, walk);
  }
  const keyed = listType === "set" || listType === "map";
  if (!keyed && item === undefined && value === undefined && fields.size === 0) return undefined;
  return (node, at, errors) => {
    if (Array.isArray(node)) {
      if (listType === "set") findRepeated(node, at, errors);
      else if (listType === "map") findRepeatedKeys(node, listKeys, at, errors);
      if (item !== undefined) for (const [i, part] of node.entries()) item(part, at.index(i), errors);
    } else if (isObject(node)) {
      if (value !== undefined) for (const key of Object.keys(node)) value(node[key] as Json, at.key(key), errors);
      for (const [name, walk] of fields) {
        const part = getKey(node, name);
        if (part !== undefined) walk(part, at.child(name), errors);
      }
    }
  };
}

function findRepeated(items: readonly Json[], at: FieldPath, errors: FieldError[]): void {
  for (const i of repeated(items)) errors.push(duplicate(at.index(i), items[i] as Json));
}

/** The indexes at which a value occurs for the second time; further ones are not reported. */
function repeated(items: readonly Json[]): readonly number[] {
  if (items.length < 2) return [];
  const seen = new Map<Json, number>();
  const found: number[] = [];
  for (const [i, item] of items.entries()) {
    const key = typeof item === "object" && item !== null ? `json:${canonical(item)}` : scalarKey(item);
    const times = seen.get(key) ?? 0;
    if (times === 1) found.push(i);
    seen.set(key, times + 1);
  }
  return found;
}

function scalarKey(value: Json): Json {
  return typeof value === "string" ? `text:${value}` : value;
}

function findRepeatedKeys(items: readonly Json[], keys: readonly string[], at: FieldPath, errors: FieldError[]): void {
  for (const [i, item] of items.entries()) {
    if (item === null || isObject(item)) continue;
    errors.push(invalid(at.index(i), item, "must be an object for an array of list-type map"));
    return;
  }
  const identities = items.map((item) => identityOf(item as JsonObject | null, keys));
  for (const i of repeated(identities)) errors.push(duplicate(at.index(i), identities[i] as Json));
}

function identityOf(item: JsonObject | null, keys: readonly string[]): JsonObject {
  const present = keys.filter((key) => item !== null && Object.hasOwn(item, key));
  return Object.fromEntries(present.map((key) => [key, item?.[key] ?? null]));
}
