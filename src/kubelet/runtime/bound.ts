/** An object with all methods of `target`, bound to it: what wraps a runtime replaces some of them. */
export function bound<T extends object>(target: T): T {
  const methods = new Set<string>();
  for (let at: object | null = target; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) if (name !== "constructor") methods.add(name);
  }
  const values = target as Record<string, unknown>;
  return Object.fromEntries(
    [...methods].map((name) => {
      const value = values[name];
      return [name, typeof value === "function" ? value.bind(target) : value];
    }),
  ) as T;
}
