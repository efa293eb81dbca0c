/**
 * A lookup table that may be asked for any key. It has no prototype: `constructor` and `__proto__` are keys like any
 * other, which it does not have. Tables indexed with keys from outside are made with it; test/layers/tables.test.ts
 * finds the others.
 */
export function table<T>(entries: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.freeze(Object.assign(Object.create(null) as Record<string, T>, entries));
}
