/**
 * A copy of JSON that may be changed without a change of the original. The platform's own structuredClone also knows dates, maps and circles, and
 * takes ten times as long for it.
 */
export function cloneJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneJson) as T;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const part = (value as Record<string, unknown>)[key];
    if (key === "__proto__") Object.defineProperty(copy, key, { ...OWN, value: cloneJson(part) });
    else copy[key] = typeof part === "object" ? cloneJson(part) : part;
  }
  return copy as T;
}

/** Users may call a label as they like. */
const OWN = { enumerable: true, configurable: true, writable: true };
