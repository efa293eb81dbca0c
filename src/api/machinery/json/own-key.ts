/** Objects from outside may have any key, including `__proto__`; assigning that one would not create a key. */
import type { Json } from "./json.ts";

export type OpenObject = { [key: string]: Json };

export function setKey(target: OpenObject, key: string, value: Json): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

export function getKey(object: { readonly [key: string]: Json }, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Of a map with any keys, which may be absent. */
export function ownValue<T>(map: { readonly [key: string]: T } | undefined, key: string): T | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}

/** The same entries, keys sorted. */
export function sortedKeys(object: { readonly [key: string]: Json }): OpenObject {
  const sorted: OpenObject = {};
  for (const key of Object.keys(object).sort()) setKey(sorted, key, object[key] ?? null);
  return sorted;
}
