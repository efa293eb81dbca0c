import { isObject, type Json, type JsonObject } from "./json.ts";

/** Whether two values are the same JSON; the order of keys does not matter. */
export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(a as readonly Json[], b as readonly Json[]);
  return isObject(a) && isObject(b) && equalObjects(a, b);
}

function equalLists(a: readonly Json[], b: readonly Json[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!equalJson(a[i] ?? null, b[i] ?? null)) return false;
  return true;
}

function equalObjects(a: JsonObject, b: JsonObject): boolean {
  let keys = 0;
  for (const key in a) {
    if (!Object.hasOwn(b, key) || !equalJson(a[key] ?? null, b[key] ?? null)) return false;
    keys++;
  }
  for (const _ in b) keys--;
  return keys === 0;
}
