/** Lists, sets and maps of devices and requests: their size, their items, and that no item occurs twice. */
import { duplicate, type FieldError, type FieldPath, NO_ERRORS, tooMany } from "../machinery/errors/field-error.ts";
import type { Json } from "../machinery/json/json.ts";

export type ItemCheck<T> = (item: T, at: FieldPath) => readonly FieldError[];

/** A list that is too long is not looked at further; a required list that the client left out is null. */
export function validateSlice<T>(
  list: readonly T[] | null | undefined,
  max: number | undefined,
  check: ItemCheck<T>,
  at: FieldPath,
): readonly FieldError[] {
  if (!list) return NO_ERRORS;
  if (max !== undefined && list.length > max) return [tooMany(at, list.length, max)];
  return list.flatMap((item, i) => check(item, at.index(i)));
}

/** As `validateSlice`; the second item with the same key is a duplicate. */
export function validateSet<T>(
  list: readonly T[] | null | undefined,
  max: number | undefined,
  check: ItemCheck<T>,
  keyOf: (item: T) => string,
  at: FieldPath,
): readonly FieldError[] {
  const errors = validateSlice(list, max, check, at);
  if (!list || (max !== undefined && list.length > max)) return errors;
  return [...errors, ...duplicates(list, keyOf, at)];
}

export function duplicates<T>(
  list: readonly T[],
  keyOf: (item: T) => string,
  at: FieldPath,
  shown: (key: string) => Json = (key) => key,
): readonly FieldError[] {
  const seen = new Set<string>();
  return list.flatMap((item, i) => {
    const key = keyOf(item);
    if (seen.has(key)) return [duplicate(at.index(i), shown(key))];
    seen.add(key);
    return [];
  });
}

/** Errors of keys name the map, errors of values the key. */
export function validateMap<T>(
  map: Readonly<Record<string, T>> | undefined,
  { max, longestKey }: { readonly max?: number; readonly longestKey: number },
  checkKey: ItemCheck<string>,
  check: ItemCheck<T>,
  at: FieldPath,
): readonly FieldError[] {
  const entries = Object.entries(map ?? {});
  if (max !== undefined && entries.length > max) return [tooMany(at, entries.length, max)];
  return entries.flatMap(([key, value]) => [
    ...checkKey(key, at),
    ...check(value, at.key(shortened(key, Math.max(longestKey, 16)))),
  ]);
}

/** Long keys are shortened in the middle. */
function shortened(key: string, longest: number): string {
  if (key.length <= longest) return key;
  const kept = longest - "...".length;
  return `${key.slice(0, Math.ceil(kept / 2))}...${key.slice(key.length - Math.floor(kept / 2))}`;
}
