/** What is shared is frozen, whole. What is frozen already is not looked at again. */
export function frozen<V>(value: V): V {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}
