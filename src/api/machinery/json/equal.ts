import { isObject, type Json, type JsonObject } from "./json.ts";

/** Whether two values are the same JSON; the order of keys does not matter. */
export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(a as readonly Json[], b as readonly Json[]);
  return isObject(a) && isObject(b) && equalObjects(a, b);
}

/** Whether two objects are the same JSON, leaving out one key of both. */
export function equalBut(a: object, b: object, key: string): boolean {
  return equalObjects(a as JsonObject, b as JsonObject, key);
}

function equalLists(a: readonly Json[], b: readonly Json[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!equalJson(a[i] ?? null, b[i] ?? null)) return false;
  return true;
}

function equalObjects(a: JsonObject, b: JsonObject, leftOut?: string): boolean {
  let keys = 0;
  for (const key in a) {
    if (key === leftOut) continue;
    if (!Object.hasOwn(b, key) || !equalJson(a[key] ?? null, b[key] ?? null)) return false;
    keys++;
  }
  for (const key in b) if (key !== leftOut) keys--;
  return keys === 0;
}
