/**
 * Any value as one that JSON can hold, for people to read. Never throws and always ends, whatever it is given: logging
 * must not be what breaks.
 */

const maxDepth = 6;
const maxEntries = 100;
const maxBytes = 32;

export type Plain = string | number | boolean | null | readonly Plain[] | { readonly [key: string]: Plain };

export function plainValue(value: unknown): Plain {
  return convert(value, []);
}

/** `above` holds the objects that contain this one: circles end there, and an object in two places is shown twice. */
function convert(value: unknown, above: readonly object[]): Plain {
  if (value === null) return null;
  if (typeof value !== "object") return convertScalar(value);
  if (above.includes(value)) return "[Circular]";
  try {
    return convertObject(value, above);
  } catch (error) {
    return unreadable(error);
  }
}

function convertScalar(value: unknown): Plain {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "function":
      return `[Function ${value.name}]`;
    default:
      return String(value);
  }
}

function convertObject(value: object, above: readonly object[]): Plain {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof Uint8Array) return describeBytes(value);
  if (above.length >= maxDepth) return Array.isArray(value) ? "[Array]" : "[Object]";
  const within = [...above, value];
  if (value instanceof Error) return convertError(value, within);
  if (value instanceof Map) return entries(value, value.size, within);
  if (Array.isArray(value) || value instanceof Set) return list(value, within);
  if ("toJSON" in value && typeof value.toJSON === "function") return convert(value.toJSON(), within);
  const keys = Object.keys(value);
  return entries(properties(value, keys), keys.length, within);
}

function convertError(error: Error, within: readonly object[]): Plain {
  const own = Object.keys(error).filter((key) => !["name", "message", "stack", "cause"].includes(key));
  const plain = emptyObject();
  plain.name = String(error.name);
  plain.message = String(error.message);
  for (const [key, item] of properties(error, own)) plain[key] = convert(item, within);
  if (error.stack !== undefined) plain.stack = String(error.stack);
  if (error instanceof AggregateError) plain.errors = list(error.errors, within);
  if (error.cause !== undefined) plain.cause = convert(error.cause, within);
  return plain;
}

function list(items: Iterable<unknown>, within: readonly object[]): Plain {
  const plain: Plain[] = [];
  for (const item of items) {
    if (plain.length === maxEntries) return [...plain, "…"];
    plain.push(convert(item, within));
  }
  return plain;
}

function entries(pairs: Iterable<readonly [unknown, unknown]>, size: number, within: readonly object[]): Plain {
  const plain = emptyObject();
  let count = 0;
  for (const [key, item] of pairs) {
    if (count++ === maxEntries) {
      plain["…"] = `${size - maxEntries} more`;
      break;
    }
    if (item !== undefined) plain[String(key)] = convert(item, within);
  }
  return plain;
}

/** Reads each property by itself: a getter that throws spoils only its own. */
function* properties(value: object, keys: readonly string[]): Iterable<readonly [string, unknown]> {
  for (const key of keys) {
    let item: unknown;
    try {
      item = Reflect.get(value, key);
    } catch (error) {
      item = unreadable(error);
    }
    yield [key, item];
  }
}

/** Without a prototype: a property named `__proto__` is one like any other. */
function emptyObject(): Record<string, Plain> {
  return Object.create(null);
}

function unreadable(error: unknown): string {
  return `[Unreadable: ${error instanceof Error ? error.message : typeof error}]`;
}

function describeBytes(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.subarray(0, maxBytes)).toString("hex");
  return `[${bytes.length} bytes: ${hex}${bytes.length > maxBytes ? "…" : ""}]`;
}
