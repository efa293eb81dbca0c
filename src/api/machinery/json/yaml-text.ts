/**
 * YAML bodies, parsed as Kubernetes does: YAML 1.1, anchors and merge keys, the first document only. The reader is our
 * own: of libraries we know none whose time follows the size of the text for anchors, long scalars and open brackets.
 *
 * 1. Time follows the size of the text. Aliases may multiply it as far as Go allows, and up to the size of a request.
 * 2. Keys are sorted, as in the JSON that Kubernetes makes of it: decoding reports faults in that order.
 * 3. Of duplicate keys the last one counts; `duplicates` reports them in the words of strict decoding. A merge key
 *    counts as if the merged keys stood in its place.
 * 4. Integers are exact as in JSON (see `int64.ts`). JSON has no infinity: Go refuses to make JSON of it.
 */

import { goFloat, goNumber, goQuote } from "./go-text.ts";
import type { Json } from "./json.ts";
import { MAX_DEPTH } from "./json-scanner.ts";
import { type OpenObject, setKey } from "./own-key.ts";
import { MAX_PRINTED } from "./printed.ts";
import { longTag, parseYamlNodes, type YamlNode } from "./yaml-parser.ts";
import { resolveScalar } from "./yaml-resolve.ts";
import { TOO_DEEP } from "./yaml-scanner.ts";
import { YamlSyntaxError } from "./yaml-source.ts";

export { YamlSyntaxError } from "./yaml-source.ts";

export interface ParsedYaml {
  readonly value: Json;
  /** `yaml: unmarshal errors:\n  line 8: key "a" already set in map`, if there are any. */
  readonly duplicates: string | undefined;
}

export function parseYaml(text: string): ParsedYaml {
  const root = parseYamlNodes(text);
  if (root === undefined) return { value: null, duplicates: undefined };
  const decoder = new Decoder();
  const value = decoder.decode(root);
  const { repeated } = decoder;
  return {
    value,
    duplicates: repeated.length === 0 ? undefined : ["yaml: unmarshal errors:", ...repeated].join("\n  "),
  };
}

/** What a key is before it becomes text: 1 and "1" are two keys. */
type Key = Exclude<Json, object> | null;

class Decoder {
  readonly repeated: string[] = [];
  /** The aliases whose targets are being decoded. */
  readonly #open = new Set<YamlNode>();
  #decoded = 0;
  #fromAliases = 0;
  #aliasedCharacters = 0;
  #repeatedCharacters = 0;
  #depth = 0;

  decode(node: YamlNode): Json {
    this.#count();
    switch (node.kind) {
      case "alias":
        return this.#throughAlias(node, (target) => this.decode(target));
      case "scalar":
        if (this.#open.size > 0) this.#countCharacters(node.value);
        return isText(node) ? node.value : finite(resolveScalar(node.value, node.tag));
      case "list":
        return this.#list(node);
      case "map":
        return objectOf(this.#entries(node, new Map()));
    }
  }

  #count(): void {
    this.#decoded++;
    if (this.#open.size > 0) this.#fromAliases++;
    if (
      this.#fromAliases > 100 &&
      this.#decoded > 1000 &&
      this.#fromAliases / this.#decoded > allowedFromAliases(this.#decoded)
    )
      throw new YamlSyntaxError("yaml: document contains excessive aliasing");
  }

  /** Of text that aliases repeat: Go counts values only, of which one may be as long as the document. */
  #countCharacters({ length }: string): void {
    this.#aliasedCharacters += length;
    if (this.#aliasedCharacters > MAX_ALIASED_CHARACTERS)
      throw new YamlSyntaxError("yaml: document contains excessive aliasing");
  }

  /** As much of the repeated keys as is printed of other faults. */
  #repeat(key: Key, line: number): void {
    if (this.#repeatedCharacters > MAX_PRINTED) return;
    const text = `line ${line}: key ${goSyntax(key)} already set in map`;
    this.#repeatedCharacters += text.length;
    this.repeated.push(text);
  }

  /** Aliases may nest further than the text. */
  #enter(): void {
    if (++this.#depth > MAX_DEPTH) throw new YamlSyntaxError(`yaml: ${TOO_DEEP}`);
  }

  #list({ children }: YamlNode): Json {
    this.#enter();
    const items: Json[] = [];
    for (const item of children) items.push(this.decode(item));
    this.#depth--;
    return items;
  }

  #throughAlias<T>(alias: YamlNode, decode: (target: YamlNode) => T): T {
    if (this.#open.has(alias)) throw new YamlSyntaxError(`yaml: anchor '${alias.value}' value contains itself`);
    this.#open.add(alias);
    const value = decode(alias.target as YamlNode);
    this.#open.delete(alias);
    return value;
  }

  #entries({ children }: YamlNode, into: Map<Key, Json>): Map<Key, Json> {
    this.#enter();
    for (let at = 0; at < children.length; at += 2) {
      const [keyNode, valueNode] = [children[at] as YamlNode, children[at + 1] as YamlNode];
      if (isMerge(keyNode)) {
        this.#merge(valueNode, into);
        continue;
      }
      const key = this.decode(keyNode);
      if (typeof key === "object" && key !== null) throw new YamlSyntaxError(`yaml: invalid map key: ${goSyntax(key)}`);
      const value = this.decode(valueNode);
      if (into.has(key)) this.#repeat(key, valueNode.line + 1);
      into.set(key, value);
    }
    this.#depth--;
    return into;
  }

  #merge(node: YamlNode, into: Map<Key, Json>): void {
    // Of several, the first counts.
    if (node.kind === "list") for (const each of node.children.toReversed()) this.#mergeMap(each, into);
    else this.#mergeMap(node, into);
  }

  #mergeMap(node: YamlNode, into: Map<Key, Json>): void {
    const { kind } = node.kind === "alias" ? (node.target as YamlNode) : node;
    if (kind !== "map") throw new YamlSyntaxError("yaml: map merge requires map or sequence of maps as the value");
    this.#count();
    if (node.kind === "alias") this.#throughAlias(node, (target) => this.#mergeTarget(target, into));
    else this.#entries(node, into);
  }

  #mergeTarget(target: YamlNode, into: Map<Key, Json>): void {
    this.#count();
    this.#entries(target, into);
  }
}

function isText({ tag, plain }: YamlNode): boolean {
  return tag === "" && !plain;
}

function isMerge({ kind, value, plain, tag }: YamlNode): boolean {
  return kind === "scalar" && value === "<<" && (plain || tag === `${longTag}merge`);
}

/** The size of the largest request: written out, the document would have been refused. */
const MAX_ALIASED_CHARACTERS = 3 * 1024 * 1024;
const fewDecoded = 400_000;
const manyDecoded = 4_000_000;

/** The part of what is decoded that may come from aliases: as Go, less of larger documents. */
function allowedFromAliases(decoded: number): number {
  if (decoded <= fewDecoded) return 0.99;
  if (decoded >= manyDecoded) return 0.1;
  return 0.99 - (0.89 * (decoded - fewDecoded)) / (manyDecoded - fewDecoded);
}

function finite(value: Json): Json {
  if (typeof value === "number" && !Number.isFinite(value))
    throw new YamlSyntaxError(`json: unsupported value: ${Number.isNaN(value) ? "NaN" : value < 0 ? "-Inf" : "+Inf"}`);
  return value;
}

function objectOf(entries: ReadonlyMap<Key, Json>): Json {
  const texts = new Map<string, Json>();
  for (const [key, value] of entries) texts.set(keyText(key, value), value);
  const object: OpenObject = {};
  for (const key of [...texts.keys()].sort()) setKey(object, key, texts.get(key) ?? null);
  return object;
}

function keyText(key: Key, value: Json): string {
  if (key === null)
    throw new YamlSyntaxError(`unsupported map key of type: %!s(<nil>), key: <nil>, value: ${goSyntax(value)}`);
  return typeof key === "number" && !Number.isSafeInteger(key) ? goFloat(key) : String(key);
}

/** As Go's `%#v` of what it decodes YAML to. */
function goSyntax(value: Json): string {
  if (value === null) return "interface {}(nil)";
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number") return goNumber(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (typeof value !== "object") return String(value);
  const entries = Object.entries(value).map(([name, part]) => `${goQuote(name)}:${goSyntax(part)}`);
  return `map[interface {}]interface {}{${entries.join(", ")}}`;
}
