/**
 * YAML bodies, parsed as Kubernetes does: YAML 1.1 (yes, no, on and off are booleans, 0777 is octal), anchors and merge
 * keys, the first document only.
 *
 * 1. Dates and 1:30 are strings, and so is 1e3: an exponent needs a sign.
 * 2. Keys are sorted, as in the JSON that Kubernetes makes of it: decoding reports faults in that order.
 * 3. Of duplicate keys the last one counts; `duplicates` reports them in the words of strict decoding.
 * 4. Integers are exact as in JSON (see `int64.ts`). JSON has no infinity: Go refuses to make JSON of it.
 */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  parseAllDocuments,
  type ScalarTag,
  type Tags,
  type YAMLError,
} from "yaml";
import { goQuote } from "./go-text.ts";
import { numberOf } from "./int64.ts";
import { isObject, type Json } from "./json.ts";
import { MAX_DEPTH } from "./json-scanner.ts";
import { setKey, sortedKeys } from "./own-key.ts";

export interface ParsedYaml {
  readonly value: Json;
  /** `yaml: unmarshal errors:\n  line 8: key "a" already set in map`, if there are any. */
  readonly duplicates: string | undefined;
}

export class YamlSyntaxError extends Error {
  override readonly name = "YamlSyntaxError";
}

const tooDeep = "yaml: exceeded max depth of 10000";

export function parseYaml(text: string): ParsedYaml {
  if (isTooDeep(text)) throw new YamlSyntaxError(tooDeep);
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    version: "1.1",
    uniqueKeys: false,
    customTags: likeGo,
    lineCounter: lines,
    prettyErrors: false,
    logLevel: "silent",
    intAsBigInt: true,
  });
  const [document] = documents;
  if (document === undefined) return { value: null, duplicates: undefined };
  const [error] = document.errors;
  // The library has no stack left.
  if (error?.code === "RESOURCE_EXHAUSTION") throw new YamlSyntaxError(tooDeep);
  if (error !== undefined) throw new YamlSyntaxError(`yaml: ${syntaxWords(error, document, lines)}`);
  const repeated: string[] = [];
  findRepeated(document.contents, lines, repeated);
  return {
    value: toJson(document),
    duplicates:
      repeated.length === 0 ? undefined : `yaml: unmarshal errors:\n${repeated.map((line) => `  ${line}`).join("\n")}`,
  };
}

/**
 * Whether lists and objects in brackets are nested deeper than the library can parse, which would take it seconds to
 * find out. Brackets in text count only at first: few documents have so many that are not closed.
 */
function isTooDeep(text: string): boolean {
  return bracketDepth(text) > MAX_DEPTH && bracketDepth(new Lexer().lex(text)) > MAX_DEPTH;
}

/** `tokens`: characters, or the tokens of a Lexer. */
function bracketDepth(tokens: Iterable<string>): number {
  let open = 0;
  let depth = 0;
  for (const token of tokens) {
    if (token === "[" || token === "{") depth = Math.max(depth, ++open);
    else if ((token === "]" || token === "}") && open > 0) open--;
    if (depth > MAX_DEPTH) break;
  }
  return depth;
}

function toJson(document: Document.Parsed): Json {
  try {
    return sorted((document.toJS({ maxAliasCount: 1000 }) ?? null) as Json);
  } catch (cause) {
    if (cause instanceof YamlSyntaxError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    const anchor = /^Unresolved alias .*: (.*)$/.exec(why)?.[1];
    throw new YamlSyntaxError(anchor === undefined ? `yaml: ${why}` : `yaml: unknown anchor '${anchor}' referenced`);
  }
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value === "bigint") return numberOf(value);
  if (typeof value === "string" && !value.isWellFormed())
    throw new YamlSyntaxError("yaml: found invalid Unicode character escape code");
  if (typeof value === "number" && !Number.isFinite(value))
    throw new YamlSyntaxError(`json: unsupported value: ${Number.isNaN(value) ? "NaN" : value < 0 ? "-Inf" : "+Inf"}`);
  if (!isObject(value)) return value;
  const result = sortedKeys(value);
  for (const key of Object.keys(result)) setKey(result, key, sorted(result[key] ?? null));
  return result;
}

/** Go's parser has no sexagesimal numbers, keeps timestamps as strings, and requires a sign in exponents. */
function likeGo(tags: Tags): Tags {
  return tags.flatMap((tag): Tags => {
    if (typeof tag === "string") return [tag];
    if (tag.tag === "tag:yaml.org,2002:timestamp") return [];
    if ("format" in tag && tag.format === "TIME") return [];
    // A dot alone is not a number: it is a key in managedFields.
    if ("test" in tag && tag.test?.test("."))
      return [{ ...(tag as ScalarTag), test: /^[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)$/ }];
    if ("format" in tag && tag.format === "EXP")
      return [{ ...(tag as ScalarTag), test: /^[-+]?[0-9]*\.?[0-9]+[eE][-+][0-9]+$/, resolve: finiteOrText }];
    return [tag];
  });
}

function finiteOrText(text: string): number | string {
  const value = Number(text);
  return Number.isFinite(value) ? value : text;
}

function findRepeated(node: Node | null | unknown, lines: LineCounter, found: string[]): void {
  if (isSeq(node)) for (const item of node.items) findRepeated(item, lines, found);
  if (!isMap(node)) return;
  const seen = new Set<string>();
  for (const { key, value } of node.items) {
    if (isScalar(key) && !isAlias(key)) {
      const name = String(key.value);
      if (seen.has(name) && name !== "<<")
        found.push(`line ${lines.linePos(key.range?.[0] ?? 0).line}: key ${goQuote(name)} already set in map`);
      seen.add(name);
    }
    findRepeated(value, lines, found);
  }
}

/**
 * The library's errors in libyaml's words, as far as the two find the same fault; the line is where the faulty
 * construct begins.
 */
function syntaxWords(error: YAMLError, document: Document.Parsed, lines: LineCounter): string {
  const at = (offset: number) => lines.linePos(offset).line;
  const flow = openFlow(document.contents, error.pos[0]);
  if (flow !== undefined) return `line ${at(flow.start)}: did not find expected ',' or '${flow.close}'`;
  const words: Partial<Record<YAMLError["code"], string>> = {
    BAD_INDENT: "did not find expected key",
    MISSING_CHAR: "could not find expected ':'",
    TAB_AS_INDENT: "found character that cannot start any token",
    BLOCK_AS_IMPLICIT_KEY: "mapping values are not allowed in this context",
    BAD_SCALAR_START: "found character that cannot start any token",
    UNEXPECTED_TOKEN: "did not find expected node content",
  };
  return `line ${at(error.pos[0])}: ${words[error.code] ?? error.message}`;
}

/** The flow collection around the position that was never closed. */
function openFlow(node: unknown, offset: number): { readonly start: number; readonly close: "]" | "}" } | undefined {
  if (!isSeq(node) && !isMap(node)) return undefined;
  const children = isSeq(node) ? node.items : node.items.flatMap(({ key, value }) => [key, value]);
  for (const child of children) {
    const found = openFlow(child, offset);
    if (found !== undefined) return found;
  }
  const start = node.range?.[0];
  return node.flow === true && start !== undefined && start <= offset
    ? { start, close: isSeq(node) ? "]" : "}" }
    : undefined;
}
