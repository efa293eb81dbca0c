/**
 * The nodes of the first document of a YAML text.
 *
 * 1. Aliases are resolved to the nodes that they name, not copied.
 * 2. What follows the first document is not read. A fault before its end is reported by line, in libyaml's words.
 */
import { MAX_DEPTH } from "./json-scanner.ts";
import { TOO_DEEP, YamlScanner } from "./yaml-scanner.ts";
import { parserFault, YamlSyntaxError } from "./yaml-source.ts";
import type { Token, TokenType } from "./yaml-tokens.ts";

export interface YamlNode {
  readonly kind: "scalar" | "list" | "map" | "alias";
  /** Counted from 0. */
  readonly line: number;
  /** "" for none. */
  readonly tag: string;
  /** The text of a scalar, the name of an alias. */
  readonly value: string;
  /** Of a scalar: it has no quotes, so that its text decides what it is. */
  readonly plain: boolean;
  /** Items, or keys and values in turn. */
  readonly children: YamlNode[];
  /** What an alias stands for. */
  readonly target?: YamlNode;
}

/** Undefined for a text without a document. */
export function parseYamlNodes(text: string): YamlNode | undefined {
  return new Parser(text).document();
}

export const longTag = "tag:yaml.org,2002:";

/** What a node may not begin with: there, it is empty. */
const inBlockList: ReadonlySet<TokenType> = new Set(["-", "block end"]);
const inIndentlessList: ReadonlySet<TokenType> = new Set(["-", "?", ":", "block end"]);
const inBlockMap: ReadonlySet<TokenType> = new Set(["?", ":", "block end"]);
const inFlowList: ReadonlySet<TokenType> = new Set([",", "]"]);
const inFlowMap: ReadonlySet<TokenType> = new Set([",", "}"]);
const inDocument: ReadonlySet<TokenType> = new Set(["%YAML", "%TAG", "---", "...", "end"]);

class Parser {
  readonly #tokens: YamlScanner;
  readonly #anchors = new Map<string, YamlNode>();
  readonly #prefixes = new Map([
    ["!", "!"],
    ["!!", longTag],
  ]);
  #depth = 0;

  constructor(text: string) {
    this.#tokens = new YamlScanner(text);
  }

  document(): YamlNode | undefined {
    if (this.#tokens.peek().type === "end") return undefined;
    const isExplicit = this.#directives();
    const next = this.#tokens.peek();
    if (isExplicit && next.type !== "---") throw parserFault("did not find expected <document start>", next.line);
    if (next.type === "---") this.#tokens.take();
    const root = this.#nodeUnless(next.type === "---" ? inDocument : noTokens, true, false);
    this.#tokens.peek();
    return root;
  }

  /** Whether there are any. */
  #directives(): boolean {
    let version = false;
    const handles = new Set<string>();
    for (;;) {
      const next = this.#tokens.peek();
      if (next.type === "%YAML") {
        if (version) throw parserFault("found duplicate %YAML directive", next.line);
        if (next.value !== "1.1") throw parserFault("found incompatible YAML document", next.line);
        version = true;
      } else if (next.type === "%TAG") {
        if (handles.has(next.value)) throw parserFault("found duplicate %TAG directive", next.line);
        handles.add(next.value);
        this.#prefixes.set(next.value, next.suffix);
      } else {
        return version || handles.size > 0;
      }
      this.#tokens.take();
    }
  }

  /** An empty scalar where the next token is one of these. */
  #nodeUnless(absent: ReadonlySet<TokenType>, block: boolean, indentless: boolean): YamlNode {
    const next = this.#tokens.peek();
    return absent.has(next.type) ? emptyScalar(next.line) : this.#node(block, indentless);
  }

  /** `indentless`: a list may begin with its first `-`, at the column of the key that it belongs to. */
  #node(block: boolean, indentless: boolean): YamlNode {
    const start = this.#tokens.peek();
    if (start.type === "*") return this.#alias();
    const { anchor, tag } = hasProperties(start) ? this.#properties() : noProperties;
    const next = this.#tokens.peek();
    const kind = indentless && next.type === "-" ? "list" : kindOf(next.type, block);
    if (kind === undefined && anchor === undefined && tag === "")
      throw parserFault("did not find expected node content", next.line, start.line);
    const isCollection = kind === "list" || kind === "map";
    const node: YamlNode = {
      kind: isCollection ? kind : "scalar",
      line: start.line,
      tag,
      value: kind === "scalar" ? next.value : "",
      plain: kind === "scalar" ? isImplicit(next, tag) : kind === undefined && tag === "",
      children: isCollection ? [] : none,
    };
    // Before its parts: they may refer to it, which is refused when it is decoded.
    if (anchor !== undefined) this.#anchors.set(anchor, node);
    if (isCollection) this.#parts(node.children, next);
    else if (kind === "scalar") this.#tokens.take();
    return node;
  }

  #parts(into: YamlNode[], opening: Token): void {
    if (++this.#depth > MAX_DEPTH) throw parserFault(TOO_DEEP, opening.line);
    if (opening.type === "-") this.#indentlessList(into);
    else if (opening.type === "[") this.#flowList(into, opening);
    else if (opening.type === "{") this.#flowMap(into, opening);
    else if (opening.type === "block list") this.#blockList(into, opening);
    else this.#blockMap(into, opening);
    this.#depth--;
  }

  #alias(): YamlNode {
    const { line, value } = this.#tokens.peek();
    const target = this.#anchors.get(value);
    if (target === undefined) throw new YamlSyntaxError(`yaml: unknown anchor '${value}' referenced`);
    this.#tokens.take();
    return { kind: "alias", line, tag: "", value, plain: false, children: none, target };
  }

  #properties(): { readonly anchor: string | undefined; readonly tag: string } {
    let anchor: string | undefined;
    let tag = "";
    const first = this.#tokens.peek();
    if (first.type === "&") anchor = this.#tokens.take().value;
    if (this.#tokens.peek().type === "!") tag = this.#tagOf(this.#tokens.take(), first);
    if (anchor === undefined && tag !== "" && this.#tokens.peek().type === "&") anchor = this.#tokens.take().value;
    return { anchor, tag };
  }

  #tagOf({ value, suffix, line }: Token, start: Token): string {
    if (value === "") return shortened(suffix);
    const prefix = this.#prefixes.get(value);
    if (prefix === undefined) throw parserFault("found undefined tag handle", line, start.line);
    return shortened(prefix) + shortened(suffix);
  }

  #blockList(into: YamlNode[], opening: Token): void {
    this.#tokens.take();
    for (;;) {
      const next = this.#tokens.peek();
      if (next.type !== "-" && next.type !== "block end")
        throw parserFault("did not find expected '-' indicator", next.line, opening.line);
      this.#tokens.take();
      if (next.type === "block end") return;
      into.push(this.#nodeUnless(inBlockList, true, false));
    }
  }

  #indentlessList(into: YamlNode[]): void {
    while (this.#tokens.peek().type === "-") {
      this.#tokens.take();
      into.push(this.#nodeUnless(inIndentlessList, true, false));
    }
  }

  #blockMap(into: YamlNode[], opening: Token): void {
    this.#tokens.take();
    for (;;) {
      const next = this.#tokens.peek();
      if (next.type !== "?" && next.type !== "block end")
        throw parserFault("did not find expected key", next.line, opening.line);
      this.#tokens.take();
      if (next.type === "block end") return;
      into.push(this.#nodeUnless(inBlockMap, true, true));
      into.push(this.#value(inBlockMap, true));
    }
  }

  /** What follows a key: empty without a `:`. */
  #value(absent: ReadonlySet<TokenType>, block: boolean): YamlNode {
    const next = this.#tokens.peek();
    if (next.type !== ":") return emptyScalar(next.line);
    this.#tokens.take();
    return this.#nodeUnless(absent, block, block);
  }

  #flowList(into: YamlNode[], opening: Token): void {
    while (this.#hasEntry("]", into.length === 0, opening)) {
      if (this.#tokens.peek().type === "?") into.push(this.#pair());
      else into.push(this.#node(false, false));
    }
  }

  /** `[a: 1]` is a list of a map. */
  #pair(): YamlNode {
    const { line } = this.#tokens.take();
    const next = this.#tokens.peek();
    const isEmpty = next.type === ":" || inFlowList.has(next.type);
    // As libyaml does, which loses the token here.
    if (isEmpty) this.#tokens.take();
    const key = isEmpty ? emptyScalar(next.line) : this.#node(false, false);
    return { kind: "map", line, tag: "", value: "", plain: false, children: [key, this.#value(inFlowList, false)] };
  }

  #flowMap(into: YamlNode[], opening: Token): void {
    while (this.#hasEntry("}", into.length === 0, opening)) {
      const isKey = this.#tokens.peek().type === "?";
      if (isKey) this.#tokens.take();
      const next = this.#tokens.peek();
      const isEmpty = isKey && (next.type === ":" || inFlowMap.has(next.type));
      into.push(isEmpty ? emptyScalar(next.line) : this.#node(false, false));
      into.push(isKey ? this.#value(inFlowMap, false) : emptyScalar(this.#tokens.peek().line));
    }
  }

  /** Takes the opening bracket before the first entry, a comma before others, and the closing bracket. */
  #hasEntry(close: "]" | "}", isFirst: boolean, opening: Token): boolean {
    if (isFirst) {
      this.#tokens.take();
    } else {
      const next = this.#tokens.peek();
      if (next.type === ",") this.#tokens.take();
      else if (next.type !== close)
        throw parserFault(`did not find expected ',' or '${close}'`, next.line, opening.line);
    }
    if (this.#tokens.peek().type !== close) return true;
    this.#tokens.take();
    return false;
  }
}

/** No tag that means something is as long as this: a long prefix would be copied for each of its tags. */
const LONGEST_TAG = 64;

function shortened(part: string): string {
  return part.length > LONGEST_TAG ? part.slice(0, LONGEST_TAG) : part;
}

const noTokens: ReadonlySet<TokenType> = new Set();
const none: YamlNode[] = [];

const noProperties = { anchor: undefined, tag: "" };

function hasProperties({ type }: Token): boolean {
  return type === "&" || type === "!";
}

/** Of the node that begins with such a token; undefined where none does. */
function kindOf(type: TokenType, block: boolean): "scalar" | "list" | "map" | undefined {
  switch (type) {
    case "scalar":
      return "scalar";
    case "[":
      return "list";
    case "{":
      return "map";
    case "block list":
      return block ? "list" : undefined;
    case "block map":
      return block ? "map" : undefined;
    default:
      return undefined;
  }
}

function isImplicit({ plain }: Token, tag: string): boolean {
  return tag === "" ? plain : tag === "!";
}

function emptyScalar(line: number): YamlNode {
  return { kind: "scalar", line, tag: "", value: "", plain: true, children: none };
}
