/**
 * JSON Merge Patch, RFC 7386: objects merge, null removes, everything else replaces.
 *
 * 1. Neither argument is modified; unchanged parts are shared.
 * 2. Merged objects have sorted keys, as in Kubernetes.
 * 3. Nulls inside of added values are dropped, also in objects within lists; a list itself is replaced as a whole.
 */
import { equalJson } from "../json/equal.ts";
import { isObject, type Json, type JsonObject } from "../json/json.ts";
import { getKey, type OpenObject, setKey, sortedKeys } from "../json/own-key.ts";

export function applyMergePatch(target: Json, patch: Json): Json {
  if (!isObject(patch)) return patch;
  return isObject(target) ? mergeObjects(target, patch) : withoutNulls(patch);
}

/** The patch that turns `from` into `to`. */
export function createMergePatch(from: JsonObject, to: JsonObject): JsonObject {
  const patch: OpenObject = {};
  for (const key of Object.keys(from)) if (!Object.hasOwn(to, key)) setKey(patch, key, null);
  for (const [key, value] of Object.entries(to)) {
    const before = getKey(from, key);
    if (isObject(before) && isObject(value)) {
      const inner = createMergePatch(before, value);
      if (Object.keys(inner).length > 0) setKey(patch, key, inner);
    } else if (before === undefined || !equalJson(before, value)) {
      setKey(patch, key, value);
    }
  }
  return patch;
}

function mergeObjects(target: JsonObject, patch: JsonObject): JsonObject {
  const merged: OpenObject = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else setKey(merged, key, mergeValue(getKey(merged, key), value));
  }
  return sortedKeys(merged);
}

function mergeValue(current: Json | undefined, patch: Json): Json {
  if (!isObject(current)) return withoutNulls(patch);
  return isObject(patch) ? mergeObjects(current, patch) : patch;
}

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept: OpenObject = {};
  for (const [key, child] of Object.entries(value)) if (child !== null) setKey(kept, key, withoutNulls(child));
  return kept;
}
