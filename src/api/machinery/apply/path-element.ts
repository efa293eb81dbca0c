/**
 * One step of a path into an object, as managedFields write it: `f:name` for a field, `k:{"name":"web"}` for an item of
 * a list with keys, `v:"x"` for a member of a set, `i:0` for a position.
 *
 * 1. An element has one spelling: keys sorted by name, values as Go writes JSON. So elements are equal when their texts
 *    are.
 */
import { goJson, goNumber, goQuote, goValue } from "../json/go-text.ts";
import { compareInt64, isNumeric } from "../json/int64.ts";
import { isObject, type Json, type JsonObject } from "../json/json.ts";
import { parseJson } from "../json/json-text.ts";

export type PathElement = string;
export type ElementPath = readonly PathElement[];

export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

/** `keys` in any order. */
export function keyElement(keys: readonly (readonly [string, Json])[]): PathElement {
  const sorted = keys.length > 1 ? [...keys].sort(([a], [b]) => compareText(a, b)) : keys;
  let text = "";
  for (const [name, value] of sorted) text += `${text === "" ? "" : ","}${jsonText(name)}:${jsonText(value)}`;
  return `k:{${text}}`;
}

export function valueElement(value: Json): PathElement {
  return `v:${jsonText(value)}`;
}

const plainText = /^[\w ./:@-]*$/;

function jsonText(value: Json): string {
  return typeof value === "string" && plainText.test(value) ? `"${value}"` : goJson(value);
}

/** `spec.replicas` as the path of two fields. */
export function fieldPath(dotted: string): ElementPath {
  return dotted.split(".").map(fieldElement);
}

const simpleKey = /^k:\{"\w+":("[\w ./:@-]*"|\d{1,15})\}$/;

/** The canonical spelling of an element from a client; undefined for an unknown type. Throws for a malformed one. */
export function canonicalElement(text: string): PathElement | undefined {
  if (text.startsWith("f:")) return text;
  if (text.length < 2) throw new Error("key must be 2 characters long:");
  if (text[1] !== ":") throw new Error(`missing colon: ${text}`);
  const content = text.slice(2);
  switch (text[0]) {
    case "k":
      return simpleKey.test(text) ? text : keyElement(Object.entries(keysOf(content)));
    case "v":
      return valueElement(parseJson(content));
    case "i":
      if (!/^[+-]?\d+$/.test(content)) throw new Error(`strconv.Atoi: parsing ${goQuote(content)}: invalid syntax`);
      return `i:${Number(content)}`;
    default:
      return undefined;
  }
}

const typeOrder = "fkvi";

/** Fields before keys before values before positions; each among themselves as Kubernetes sorts them. */
export function compareElements(a: PathElement, b: PathElement): number {
  if (a.startsWith("f:") && b.startsWith("f:")) return compareText(a, b);
  return compareSortable(sortable(a), sortable(b));
}

/** In that order. Each element is parsed once, however often it is compared. */
export function sortElements(elements: readonly PathElement[]): readonly PathElement[] {
  if (elements.every((element) => element.startsWith("f:"))) return elements.toSorted(compareText);
  const parsed = elements.map(sortable).sort(compareSortable);
  return parsed.map(({ element }) => element);
}

type Sortable = { readonly element: PathElement; readonly type: number } & (
  | { readonly text: string }
  | { readonly keys: readonly [string, Json][] }
  | { readonly value: Json }
  | { readonly position: number }
);

function sortable(element: PathElement): Sortable {
  const type = typeOrder.indexOf(element.charAt(0));
  const content = element.slice(2);
  switch (element[0]) {
    case "k":
      return { element, type, keys: Object.entries(keysOf(content)) };
    case "v":
      return { element, type, value: parseJson(content) };
    case "i":
      return { element, type, position: Number(content) };
    default:
      return { element, type, text: content };
  }
}

function compareSortable(a: Sortable, b: Sortable): number {
  if ("keys" in a && "keys" in b) return compareKeys(a.keys, b.keys);
  if ("value" in a && "value" in b) return compareValues(a.value, b.value);
  if ("position" in a && "position" in b) return a.position - b.position;
  if ("text" in a && "text" in b) return compareText(a.text, b.text);
  return a.type - b.type;
}

/** As messages print a path: `.spec.containers[name="web"].args`. */
export function printPath(path: ElementPath): string {
  return path.map(printElement).join("");
}

export function printElement(element: PathElement): string {
  const content = element.slice(2);
  switch (element[0]) {
    case "k": {
      const keys = Object.entries(keysOf(content)).map(([name, value]) => `${name}=${printValue(value)}`);
      return `[${keys.join(",")}]`;
    }
    case "v":
      return `[=${printValue(parseJson(content))}]`;
    case "i":
      return `[${content}]`;
    default:
      return `.${content}`;
  }
}

function printValue(value: Json): string {
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number") return goNumber(value);
  return value === null ? "null" : goValue(value);
}

function keysOf(content: string): JsonObject {
  const keys = parseJson(content);
  if (!isObject(keys)) throw new Error(`expected an object of keys: ${content}`);
  return keys;
}

function compareKeys(a: readonly [string, Json][], b: readonly [string, Json][]): number {
  for (const [i, [name, value]] of a.entries()) {
    const other = b[i];
    if (other === undefined) return 1;
    const order = compareText(name, other[0]) || compareValues(value, other[1]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Numbers before strings before booleans before everything else. */
function compareValues(a: Json, b: Json): number {
  if (isNumeric(a) && isNumeric(b)) return compareInt64(a, b);
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  return rank(a) - rank(b) || compareText(goJson(a), goJson(b));
}

function rank(value: Json): number {
  if (typeof value === "bigint") return 0;
  return ["number", "string", "boolean"].indexOf(typeof value) >>> 0;
}

/** Go compares UTF-8 bytes, which is the order of code points. JavaScript's order differs for surrogates. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x === y) continue;
    const [left, right] = [isSurrogate(x), isSurrogate(y)];
    return left === right ? x - y : left ? 1 : -1;
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}
