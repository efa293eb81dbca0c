/**
 * FieldsV1, the format of a set in managedFields: objects nested along the paths, with `.` where a path with something
 * below it is itself in the set.
 *
 * 1. Stored sets were written by an API server, sorted and canonical. They are read lazily, level by level, and an
 *    unchanged part is written back as the same value.
 * 2. Sets from clients are parsed completely, with their faults reported, and written anew.
 */
import { isObject, type JsonObject } from "../json/json.ts";
import { writeJson } from "../json/write-json.ts";
import { emptySet, type FieldSet, leaf, sortedElements, union } from "./field-set.ts";
import { canonicalElement, type PathElement } from "./path-element.ts";

/** A path that has nothing below it. */
export const emptyFields: JsonObject = Object.freeze({});

/** The set in the fieldsV1 of a stored object. */
export function decodeFields(fields: JsonObject | undefined): FieldSet {
  return fields === undefined ? emptySet : new StoredSet(fields, true);
}

class StoredSet implements FieldSet {
  readonly fields: JsonObject;
  readonly #isRoot: boolean;
  #children: ReadonlyMap<PathElement, FieldSet> | undefined;

  constructor(fields: JsonObject, isRoot: boolean) {
    this.fields = fields;
    this.#isRoot = isRoot;
  }

  get member(): boolean {
    return !this.#isRoot && ("." in this.fields || this.children.size === 0);
  }

  get children(): ReadonlyMap<PathElement, FieldSet> {
    this.#children ??= childrenOf(this.fields);
    return this.#children;
  }
}

function childrenOf(fields: JsonObject): ReadonlyMap<PathElement, FieldSet> {
  const children = new Map<PathElement, FieldSet>();
  for (const text in fields) {
    const element = text === "." ? undefined : canonicalElement(text);
    if (element === undefined) continue;
    const child = fields[text];
    children.set(element, isObject(child) && hasKeys(child) ? new StoredSet(child, false) : leaf);
  }
  return children;
}

function hasKeys(fields: JsonObject): boolean {
  for (const _ in fields) return true;
  return false;
}

/** The set in the fieldsV1 that a client sent. Throws for a malformed one; elements of unknown types are dropped. */
export function parseFields(fields: unknown): FieldSet {
  return { member: false, children: parsedChildren(fields) };
}

function parsedChildren(fields: unknown): ReadonlyMap<PathElement, FieldSet> {
  if (!isObject(fields)) throw new Error(`expected an object, found ${writeJson(fields)}`);
  const children = new Map<PathElement, FieldSet>();
  for (const [text, value] of Object.entries(fields)) {
    const element = text === "." ? undefined : canonicalElement(text);
    if (element === undefined) continue;
    const below = parsedChildren(value);
    const child = below.size === 0 ? leaf : { member: isObject(value) && "." in value, children: below };
    const before = children.get(element);
    children.set(element, before === undefined ? child : union(before, child));
  }
  return children;
}

export function encodeFields(set: FieldSet): JsonObject {
  if (set instanceof StoredSet) return set.fields;
  if (set.children.size === 0) return emptyFields;
  const fields: Record<string, JsonObject> = {};
  if (set.member) fields["."] = emptyFields;
  for (const element of sortedElements(set)) {
    const child = set.children.get(element);
    if (child !== undefined) fields[element] = encodeFields(child);
  }
  return fields;
}
