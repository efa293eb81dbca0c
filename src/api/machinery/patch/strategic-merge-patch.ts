/**
 * Strategic merge patch: like a merge patch, but the schema says which lists merge, and by which key. Directives in the
 * patch:
 *
 *     $patch: replace | delete             on an object or an item of a list
 *     $retainKeys: [...]                   drop all other keys of the object
 *     $deleteFromPrimitiveList/x: [...]    remove values from the list x
 *     $setElementOrder/x: [...]            the order of the items of x
 *
 * 1. Neither argument is modified; unchanged parts are shared.
 * 2. Order in a merged list: `$setElementOrder` before the patch's own order before the existing order.
 */

import { StatusError } from "../errors/status.ts";
import { badRequest, serverResponse } from "../errors/status-errors.ts";
import { goKind, goValue } from "../json/go-text.ts";
import { isObject, type Json, type JsonObject } from "../json/json.ts";
import { getKey, type OpenObject, setKey } from "../json/own-key.ts";
import type { FieldSchema, Schema } from "../schema/schema.ts";
import { inOrderOf, type ListMerge, matching, withoutScalars } from "./merge-order.ts";

const directive = "$patch";
const retainKeys = "$retainKeys";
const deleteFromList = "$deleteFromPrimitiveList";
const setElementOrder = "$setElementOrder";

/** Throws a StatusError for an invalid patch: 400 for malformed directives, otherwise as Kubernetes answers. */
export function applyStrategicMergePatch(original: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  return mergeObject(original, patch, schema);
}

function mergeObject(original: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  const action = getKey(patch, directive);
  if (action !== undefined) return obeyDirective(action, patch);
  const merged: OpenObject = { ...original };
  const rest = new Map(Object.entries(patch));
  retain(merged, rest);
  orderLists(merged, rest, schema);
  for (const [key, value] of rest) mergeField(merged, key, value, schema);
  return merged;
}

function obeyDirective(action: Json, patch: JsonObject): JsonObject {
  if (action === "delete") return {};
  if (action !== "replace") throw unknownPatchType(action, patch);
  const { [directive]: _, ...replacement } = patch;
  return replacement;
}

function retain(merged: OpenObject, rest: Map<string, Json>): void {
  const keys = rest.get(retainKeys);
  if (keys === undefined) return;
  rest.delete(retainKeys);
  if (!Array.isArray(keys)) throw badRequest(badRetainKeys);
  for (const [key, value] of rest) {
    if (value === null || key.startsWith(deleteFromList) || key.startsWith(setElementOrder)) continue;
    if (!keys.includes(key)) throw badRequest(badRetainKeys);
  }
  for (const key of Object.keys(merged)) if (!keys.includes(key)) delete merged[key];
}

/** Merges lists that have a `$setElementOrder`, and removes them from `rest`. */
function orderLists(merged: OpenObject, rest: Map<string, Json>, schema: Schema): void {
  for (const [key, order] of [...rest]) {
    if (!key.startsWith(setElementOrder)) continue;
    rest.delete(key);
    if (!Array.isArray(order)) throw badArgument("[]interface {}", order);
    const name = suffixOf(key, setElementOrder, badElementOrder);
    const before = listOrNone(getKey(merged, name));
    const change = listOrNone(rest.get(name));
    const rules = listRules(schema, name);
    if (change !== undefined) checkOrder(change, order, rules.mergeKey);
    if (before === undefined && change === undefined) continue;
    const list =
      before === undefined
        ? withoutDirectives(change ?? [])
        : change === undefined
          ? before
          : mergeList(before, change, rules);
    setKey(merged, name, inOrderOf(list as readonly Json[], order, before ?? [], rules));
    rest.delete(name);
  }
}

function listOrNone(value: Json | undefined): readonly Json[] | undefined {
  if (value !== undefined && !Array.isArray(value)) throw badArgument("[]interface {}", value);
  return value as readonly Json[] | undefined;
}

/** Every item of the patch's list must be in the order, in that order. */
function checkOrder(change: readonly Json[], order: readonly Json[], mergeKey: string): void {
  if (change.length === 0 || order.length === 0) return;
  const kept =
    mergeKey === "" ? change : change.filter((item) => !isObject(item) || getKey(item, directive) !== "delete");
  let next = 0;
  for (const wanted of order) {
    let item = kept[next];
    while (isObject(item) && Object.hasOwn(item, directive)) item = kept[++next];
    if (item === undefined) return;
    if (matching(item, wanted, mergeKey)) next++;
  }
  if (next >= kept.length) return;
  throw failure(
    `The order in patch list:\n${goValue(change)}\n doesn't match ${setElementOrder} list:\n${goValue(order)}\n`,
  );
}

function mergeField(merged: OpenObject, key: string, value: Json, schema: Schema): void {
  const deleting = key.startsWith(deleteFromList);
  const name = deleting ? suffixOf(key, deleteFromList, badPrimitiveList) : key;
  if (value === null) {
    delete merged[name];
    return;
  }
  const before = getKey(merged, name);
  if (before === undefined || goKind(before) !== goKind(value)) {
    if (deleting) return;
    const plain = withoutDirectives(withoutNulls(value));
    if (plain === undefined) delete merged[name];
    else setKey(merged, name, plain);
    return;
  }
  if (isObject(before) && isObject(value)) {
    const { strategy, inner } = fieldRules(schema, name);
    setKey(merged, name, strategy === "replace" ? value : mergeObject(before, value, inner));
  } else if (Array.isArray(before) && Array.isArray(value)) {
    const rules = listRules(schema, name);
    if (deleting) setKey(merged, name, deleteFrom(before, value, rules));
    else setKey(merged, name, rules.strategy === "merge" ? mergeList(before, value, rules) : value);
  } else {
    setKey(merged, name, value);
  }
}

function deleteFrom(before: readonly Json[], values: readonly Json[], rules: ListRules): readonly Json[] {
  if (before.length === 0 && values.length === 0) return before;
  return elementKind(before, values) === "map" ? mergeList(before, values, rules) : withoutScalars(before, values);
}

interface ListRules extends ListMerge {
  readonly strategy: string;
  readonly items: Schema;
}

function mergeList(before: readonly Json[], change: readonly Json[], rules: ListRules): readonly Json[] {
  if (before.length === 0 && change.length === 0) return before;
  if (elementKind(before, change) !== "map") {
    const both = [...new Set([...before, ...change])];
    return inOrderOf(both, change, before, { mergeKey: "" });
  }
  if (rules.mergeKey === "") throw failure(`cannot merge lists without merge key for ${goNameOf(rules.items)}`);
  const { kept, patches } = obeyItemDirectives(
    before as readonly JsonObject[],
    change as readonly JsonObject[],
    rules.mergeKey,
  );
  const merged = [...kept];
  for (const patch of patches) {
    const id = mergeValueOf(patch, rules.mergeKey);
    const place = merged.findIndex((item) => getKey(item, rules.mergeKey) === id);
    const current = merged[place];
    if (current === undefined) merged.push(patch);
    else merged[place] = mergeObject(current, patch, rules.items);
  }
  return inOrderOf(merged, patches, kept, rules);
}

/** Items with `$patch` apply to the list: `replace` makes the other items its whole content. */
function obeyItemDirectives(before: readonly JsonObject[], change: readonly JsonObject[], mergeKey: string) {
  let kept = before;
  let replaced = false;
  const patches: JsonObject[] = [];
  for (const item of change) {
    const action = getKey(item, directive);
    if (action === undefined) {
      patches.push(item);
    } else if (action === "delete") {
      const id = mergeValueOf(item, mergeKey);
      kept = kept.filter((candidate) => getKey(candidate, mergeKey) !== id);
    } else if (action === "replace") {
      replaced = true;
    } else if (action === "merge") {
      throw failure("merging lists cannot yet be specified in the patch");
    } else {
      throw unknownPatchType(action, item);
    }
  }
  return replaced ? { kept: patches, patches: [] } : { kept, patches };
}

function mergeValueOf(item: JsonObject, mergeKey: string): Json {
  const id = getKey(item, mergeKey);
  if (id === undefined) throw failure(`map: ${goValue(item)} does not contain declared merge key: ${mergeKey}`);
  return id;
}

/** All items of both lists must be of one kind, and none a list. */
function elementKind(before: readonly Json[], change: readonly Json[]): ReturnType<typeof goKind> {
  const kinds = new Set([...before, ...change].map(goKind));
  const [kind] = kinds;
  if (kind === "slice") throw serverResponse(422, "lists of lists are not supported");
  if (kinds.size > 1) throw failure(`list element types are not identical: [${goValue(before)} ${goValue(change)}]`);
  return kind ?? "nil";
}

function listRules(schema: Schema, name: string): ListRules {
  const { strategy, mergeKey, inner } = fieldRules(schema, name);
  return { strategy, mergeKey, items: inner.type === "list" ? inner.items : anything };
}

const anything: Schema = { type: "any" };

function fieldRules(schema: Schema, name: string): { strategy: string; mergeKey: string; inner: Schema } {
  if (schema.type === "map") return { strategy: "", mergeKey: "", inner: schema.values };
  if (schema.type !== "object") return { strategy: "", mergeKey: "", inner: anything };
  const field: FieldSchema | undefined = schema.fields.get(name);
  if (field === undefined) {
    throw failure(`unable to find api field in struct ${goNameOf(schema)} for the json field ${JSON.stringify(name)}`);
  }
  const strategies = (field.patchStrategy ?? "").split(",").filter((strategy) => strategy !== "retainKeys");
  return { strategy: strategies[0] ?? "", mergeKey: field.patchMergeKey ?? "", inner: field.schema };
}

function goNameOf(schema: Schema): string {
  return schema.type === "object" ? (schema.goType?.split(".").at(-1) ?? "struct") : schema.type;
}

function suffixOf(key: string, prefix: string, why: string): string {
  if (!key.startsWith(`${prefix}/`)) throw badRequest(why);
  return key.slice(prefix.length + 1);
}

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, child]) => (child === null ? [] : [[key, withoutNulls(child)]])),
  );
}

/** Undefined: the value is dropped. */
function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, directive)) return undefined;
  const kept: OpenObject = {};
  for (const [key, child] of Object.entries(value)) {
    const plain = withoutDirectives(child);
    if (plain !== undefined) setKey(kept, key, plain);
  }
  return kept;
}

const badRetainKeys = "invalid patch format of retainKeys";
const badElementOrder = "invalid patch format of setElementOrder list";
const badPrimitiveList = "invalid patch format of primitive list";

function unknownPatchType(action: Json, patch: JsonObject): StatusError {
  return failure(`unknown patch type: ${goValue(action)} in map: ${goValue(patch)}`);
}

function badArgument(expected: string, actual: Json): StatusError {
  const kind = goKind(actual);
  const received =
    kind === "map"
      ? "map[string]interface {}"
      : kind === "slice"
        ? "[]interface {}"
        : kind === "nil"
          ? "%!s(<nil>)"
          : kind;
  return failure(`expected a ${expected}, but received a ${received}`);
}

/** Kubernetes answers 500 for client faults that it does not detect as such. */
function failure(message: string): StatusError {
  return new StatusError("", message);
}
