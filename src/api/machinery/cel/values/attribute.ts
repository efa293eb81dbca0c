/** Field selection, map look-up and list indexing, also through optionals. */
import { formatDouble } from "./numbers.ts";
import { typeName } from "./type.ts";
import { CelError, ListValue, MapValue, none, Optional, type Outcome, typeOf, Uint, type Value } from "./value.ts";

/** `value.field`, `value[key]`. */
export function qualify(value: Value, key: Value): Outcome {
  if (value instanceof MapValue) {
    const found = value.get(key);
    return found === undefined ? new CelError(`no such key: ${formatKey(key)}`) : found;
  }
  if (value instanceof ListValue) {
    const index = indexOf(key);
    if (index instanceof CelError) return index;
    return inRange(value, index) ? value.at(index) : new CelError(`index out of bounds: ${index}`);
  }
  if (value instanceof Optional) return qualifyIfPresent(value, key);
  // Also null: an absent object, such as `object` of a DELETE request, has no fields.
  return new CelError(`no such key: ${formatKey(key)}`);
}

/** `value.?field`, `value[?key]`: an optional. */
export function qualifyIfPresent(value: Value, key: Value): Outcome {
  if (value instanceof Optional) return value.value === undefined ? none : qualifyIfPresent(value.value, key);
  if (value instanceof MapValue) return wrapped(value.get(key));
  if (value instanceof ListValue) {
    const index = indexOf(key);
    if (index instanceof CelError) return index;
    return inRange(value, index) ? wrapped(value.at(index)) : none;
  }
  return none;
}

/** `has(value.field)`. */
export function isPresent(value: Value, field: string): Outcome {
  if (value instanceof MapValue) {
    const found = value.get(field);
    return found instanceof CelError ? found : found !== undefined;
  }
  if (value instanceof Optional) return value.value === undefined ? false : isPresent(value.value, field);
  return false;
}

function wrapped(outcome: Outcome | undefined): Outcome {
  if (outcome === undefined) return none;
  return outcome instanceof CelError ? outcome : new Optional(outcome);
}

function inRange(list: ListValue, index: number): boolean {
  return index >= 0 && index < list.size;
}

/** Any number without a fraction. */
function indexOf(key: Value): number | CelError {
  if (typeof key === "bigint") return Number(key);
  if (key instanceof Uint) return Number(key.value);
  if (typeof key === "number" && Number.isInteger(key)) return key;
  return new CelError(`unsupported index type '${typeName(typeOf(key))}' in list`);
}

export function formatKey(key: Value): string {
  if (key instanceof Uint) return `${key.value}`;
  if (typeof key === "number") return formatDouble(key);
  return typeof key === "object" ? typeName(typeOf(key)) : `${key}`;
}
