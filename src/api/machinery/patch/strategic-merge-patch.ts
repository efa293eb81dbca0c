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
import { goKind, goString, goValue } from "../json/go-text.ts";
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
  return mergeObject(original, patch, schema, keepAll);
}

/** A patch as messages show it after it was applied: Kubernetes takes the directives that it obeys out of it. */
export function spentStrategicMergePatch(original: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  const spent = structuredClone(patch) as OpenObject;
  mergeObject(original, spent, schema, (from, key) => delete (from as OpenObject)[key]);
  return spent;
}

/** Told of each part of the patch that the merge uses up. */
type Spend = (from: JsonObject, key: string) => void;

const keepAll: Spend = () => {};

function mergeObject(original: JsonObject, patch: JsonObject, schema: Schema, spend: Spend): JsonObject {
  const action = getKey(patch, directive);
  if (action !== undefined) return obeyDirective(action, patch, spend);
  const merged: OpenObject = { ...original };
  const rest = new Map(Object.entries(patch));
  const use: Use = (key) => {
    rest.delete(key);
    spend(patch, key);
  };
  retain(merged, rest, use);
  orderLists(merged, rest, schema, use, spend);
  for (const [key, value] of rest) mergeField(merged, key, value, schema, spend);
  return merged;
}

/** Takes a key out of the patch. */
type Use = (key: string) => void;

function obeyDirective(action: Json, patch: JsonObject, spend: Spend): JsonObject {
  if (action === "delete") return {};
  if (action !== "replace") throw unknownPatchType(action, patch);
  const { [directive]: _, ...replacement } = patch;
  spend(patch, directive);
  return replacement;
}

function retain(merged: OpenObject, rest: ReadonlyMap<string, Json>, use: Use): void {
  const keys = rest.get(retainKeys);
  if (keys === undefined) return;
  use(retainKeys);
  if (!Array.isArray(keys)) throw badRequest(badRetainKeys);
  const retained = new Set(keys);
  for (const [key, value] of rest) {
    if (value === null || key.startsWith(deleteFromList) || key.startsWith(setElementOrder)) continue;
    if (!retained.has(key)) throw badRequest(badRetainKeys);
  }
  for (const key of Object.keys(merged)) if (!retained.has(key)) delete merged[key];
}

/** Merges lists that have a `$setElementOrder`, and removes them from `rest`. */
function orderLists(merged: OpenObject, rest: ReadonlyMap<string, Json>, schema: Schema, use: Use, spend: Spend): void {
  for (const [key, order] of [...rest]) {
    if (!key.startsWith(setElementOrder)) continue;
    use(key);
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
          : mergeList(before, change, rules, spend);
    setKey(merged, name, inOrderOf(list as readonly Json[], order, before ?? [], rules));
    use(name);
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

function mergeField(merged: OpenObject, key: string, value: Json, schema: Schema, spend: Spend): void {
  const deleting = key.startsWith(deleteFromList);
  const name = deleting ? suffixOf(key, deleteFromList, badPrimitiveList) : key;
  if (value === null) {
    delete merged[name];
    return;
  }
  const before = getKey(merged, name);
  if (before === undefined || goKind(before) !== goKind(value)) {
    if (deleting) return;
    const plain = withoutDirectives(withoutNulls(value, spend));
    if (plain === undefined) delete merged[name];
    else setKey(merged, name, plain);
    return;
  }
  if (isObject(before) && isObject(value)) {
    const { strategy, inner } = fieldRules(schema, name);
    setKey(merged, name, strategy === "replace" ? value : mergeObject(before, value, inner, spend));
  } else if (Array.isArray(before) && Array.isArray(value)) {
    const rules = listRules(schema, name);
    if (deleting) setKey(merged, name, deleteFrom(before, value, rules, spend));
    else setKey(merged, name, rules.strategy === "merge" ? mergeList(before, value, rules, spend) : value);
  } else {
    setKey(merged, name, value);
  }
}

function deleteFrom(before: readonly Json[], values: readonly Json[], rules: ListRules, spend: Spend): readonly Json[] {
  if (before.length === 0 && values.length === 0) return before;
  if (elementKind(before, values) === "map") return mergeList(before, values, rules, spend);
  return withoutScalars(before, values);
}

interface ListRules extends ListMerge {
  readonly strategy: string;
  readonly items: Schema;
}

function mergeList(before: readonly Json[], change: readonly Json[], rules: ListRules, spend: Spend): readonly Json[] {
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
  // Of items that share their key, the first is merged.
  const places = new Map<Json | undefined, number>();
  for (const [place, item] of kept.entries()) {
    const id = getKey(item, rules.mergeKey);
    if (!places.has(id)) places.set(id, place);
  }
  for (const patch of patches) {
    const id = mergeValueOf(patch, rules.mergeKey);
    const place = places.get(id) ?? merged.length;
    const current = merged[place];
    merged[place] = current === undefined ? patch : mergeObject(current, patch, rules.items, spend);
    places.set(id, place);
  }
  for (const item of merged) mergeValueOf(item, rules.mergeKey);
  return inOrderOf(merged, patches, kept, rules);
}

/** Items with `$patch` apply to the list: `replace` makes the other items its whole content. */
function obeyItemDirectives(before: readonly JsonObject[], change: readonly JsonObject[], mergeKey: string) {
  const deleted = new Set<Json>();
  let replaced = false;
  const patches: JsonObject[] = [];
  for (const item of change) {
    const action = getKey(item, directive);
    if (action === undefined) {
      patches.push(item);
    } else if (action === "delete") {
      deleted.add(mergeValueOf(item, mergeKey));
    } else if (action === "replace") {
      replaced = true;
    } else if (action === "merge") {
      throw failure("merging lists cannot yet be specified in the patch");
    } else {
      throw unknownPatchType(action, item);
    }
  }
  if (replaced) return { kept: patches, patches: [] };
  const isKept = (candidate: JsonObject) => !deleted.has(getKey(candidate, mergeKey) as Json);
  return { kept: deleted.size === 0 ? before : before.filter(isKept), patches };
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

function withoutNulls(value: Json, spend: Spend): Json {
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, spend));
  if (!isObject(value)) return value;
  const kept: OpenObject = {};
  for (const [key, child] of Object.entries(value)) {
    if (child === null) spend(value, key);
    else setKey(kept, key, withoutNulls(child, spend));
  }
  return kept;
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
  return failure(`unknown patch type: ${goString(action)} in map: ${goValue(patch)}`);
}

function badArgument(expected: string, actual: Json): StatusError {
  const kind = goKind(actual);
  const received = kind === "map" ? "map[string]interface {}" : kind === "slice" ? "[]interface {}" : kind;
  return failure(`expected a ${expected}, but received a ${kind === "nil" ? goString(null) : received}`);
}

/** Kubernetes answers 500 for client faults that it does not detect as such. */
function failure(message: string): StatusError {
  return new StatusError("", message);
}
