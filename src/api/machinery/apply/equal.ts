/** Whether two JSON values say the same, whatever the order of their keys. */
import type { Json, JsonObject } from "../json/json.ts";

export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!equalJson(a[i], b[i])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  return equalObjects(a as JsonObject, b as JsonObject);
}

function equalObjects(a: JsonObject, b: JsonObject): boolean {
  let keys = 0;
  for (const key in a) {
    if (!Object.hasOwn(b, key) || !equalJson(a[key], b[key])) return false;
    keys++;
  }
  for (const _ in b) keys--;
  return keys === 0;
}
