/**
 * Lists and maps that a client sent empty. Decoding leaves them out, as Go's JSON does when it writes them; but Go's
 * objects know an empty list from none, and some rules of Kubernetes do, too.
 *
 * 1. Only an object that was just decoded is asked: a stored object has no empty lists.
 */
import { isObject, type Json, type JsonObject } from "./json.ts";
import { setKey } from "./own-key.ts";

const empties = new WeakMap<object, ReadonlyMap<string, Json>>();

export function noteEmpties(object: object, fields: ReadonlyMap<string, Json>): void {
  empties.set(object, fields);
}

/** `[]` or `{}` if the field was sent so, and is still absent; undefined otherwise. */
export function sentEmpty(object: object | undefined, name: string): Json | undefined {
  return object === undefined || name in object ? undefined : empties.get(object)?.get(name);
}

/** A field as Go has it: null is absent. */
export function asSent<T extends object, Name extends keyof T & string>(object: T, name: Name): Json {
  return (object[name] as Json | undefined) ?? sentEmpty(object, name) ?? null;
}

/** Whether any field in the value, at any depth, was sent empty. */
export function hasSentEmpty(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.some(hasSentEmpty);
  return isObject(value) && (isMarked(value) || Object.values(value).some(hasSentEmpty));
}

/** Defaults may have filled what was sent empty. */
function isMarked(object: object): boolean {
  return [...(empties.get(object)?.keys() ?? [])].some((name) => !(name in object));
}

/** As `cloneJson`, for an object that was just decoded. */
export function cloneDraft<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneDraft) as T;
  const copy = {};
  for (const key of Object.keys(value)) setKey(copy, key, cloneDraft((value as JsonObject)[key] as Json));
  keepSentEmpty(value, copy);
  return copy as T;
}

export function keepSentEmpty(from: object, to: object): void {
  const known = empties.get(from);
  if (known !== undefined) empties.set(to, known);
}
