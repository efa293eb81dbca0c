/**
 * Headers that identify a user, value by value.
 *
 * 1. Values are never split at commas: the name of a group may contain one, and `a, system:masters` is one name, not
 *    two.
 * 2. Bytes beyond ASCII are UTF-8, as in Kubernetes. Node decodes each byte as a character.
 */
import type { ApiRequest } from "./exchange.ts";

type Headers = Pick<ApiRequest, "headers" | "rawHeaders">;

/** Every value of a header, in the order sent. `name` in lower case. */
export function headerValues({ headers, rawHeaders }: Headers, name: string): readonly string[] {
  const joined = headers[name];
  if (joined === undefined) return [];
  if (rawHeaders === undefined) return [joined];
  return rawEntries(rawHeaders)
    .filter(([each]) => each === name)
    .map(([, value]) => value);
}

/** The first non-empty value of the first header that has one. */
export function headerValue(request: Headers, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const [first = ""] = headerValues(request, name);
    if (first !== "") return first;
  }
  return undefined;
}

/** Values of all headers with a prefix, by the rest of their names. */
export function prefixedValues(
  { headers, rawHeaders }: Headers,
  prefix: string,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const entries =
    rawHeaders === undefined
      ? Object.entries(headers).map(([name, value]) => [name, value ?? ""] as const)
      : rawEntries(rawHeaders);
  for (const [name, value] of entries) {
    if (!name.startsWith(prefix)) continue;
    const key = unescaped(name.slice(prefix.length));
    const values = found.get(key);
    if (values === undefined) found.set(key, [value]);
    else values.push(value);
  }
  return found;
}

function rawEntries(raw: readonly string[]): (readonly [name: string, value: string])[] {
  const entries: (readonly [string, string])[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    entries.push([(raw[i] ?? "").toLowerCase(), utf8(raw[i + 1] ?? "")]);
  }
  return entries;
}

function utf8(value: string): string {
  return /[\x80-\xff]/.test(value) ? Buffer.from(value, "latin1").toString("utf8") : value;
}

/** Returns the text unchanged if it is badly encoded. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
