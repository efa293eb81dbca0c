import { isObject, type Json } from "./json.ts";

/** Whether two values are the same JSON; the order of keys does not matter. */
export function equalJson(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => equalJson(item, b[i] ?? null));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equalJson(a[key] ?? null, b[key] ?? null));
}
