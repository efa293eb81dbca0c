/**
 * Reads the text of a YAML document token by token, as libyaml does. What stands before a `:` on the same line is a
 * key: the tokens that say so come before it, once its `:` is found.
 *
 * 1. A token costs its length, however deep it is nested and however many keys are open. A key has at most 1,024
 *    characters, so no more tokens than that wait for one.
 * 2. Lists and maps are nested no deeper than `MAX_DEPTH`.
 */
import { MAX_DEPTH } from "./json-scanner.ts";
import { blockScalar, plainScalar, quotedScalar } from "./yaml-scalars.ts";
import { isBlank, isBlankOrEnd, isBreak, scannerFault, YamlSource, type YamlSyntaxError } from "./yaml-source.ts";
import { anchor, directive, type Token, type TokenType, tag, token } from "./yaml-tokens.ts";

export const TOO_DEEP = "exceeded max depth of 10000";
const MAX_KEY = 1024;
/** Tokens that were taken are forgotten together. */
const FORGET = 4096;

/** Where a key may have begun. */
interface PossibleKey {
  /** The number of its first token. */
  readonly token: number;
  readonly at: number;
  readonly line: number;
  readonly column: number;
  /** It stands where only a key may stand. */
  readonly required: boolean;
}

const indicators = new Set([..."-?:,[]{}#&*!|>'\"%@`"].map((char) => char.charCodeAt(0)));

export class YamlScanner {
  readonly #source: YamlSource;
  #tokens: Token[] = [];
  #head = 0;
  /** How many tokens were forgotten. */
  #forgotten = 0;
  #indent = -1;
  readonly #indents: number[] = [];
  /** The possible key of each bracket that is open, and of the block around them. */
  readonly #keys: (PossibleKey | undefined)[] = [undefined];
  readonly #keyByToken = new Map<number, PossibleKey>();
  #keyAllowed = true;

  constructor(text: string) {
    this.#source = new YamlSource(text);
  }

  peek(): Token {
    while (this.#needsMore()) this.#fetch();
    return this.#tokens[this.#head] as Token;
  }

  take(): Token {
    const next = this.peek();
    if (next.type === "end") return next;
    if (++this.#head >= FORGET) {
      this.#forgotten += this.#head;
      this.#tokens = this.#tokens.slice(this.#head);
      this.#head = 0;
    }
    return next;
  }

  /** The next token is known only when it cannot turn out to be a key. */
  #needsMore(): boolean {
    if (this.#head === this.#tokens.length) return true;
    const key = this.#keyByToken.get(this.#forgotten + this.#head);
    return key !== undefined && this.#isStillPossible(key);
  }

  get #inFlow(): boolean {
    return this.#keys.length > 1;
  }

  #fail(problem: string, contextLine = this.#source.line): YamlSyntaxError {
    return scannerFault(problem, this.#source.line, contextLine);
  }

  #isStillPossible(key: PossibleKey): boolean {
    if (key.line === this.#source.line && key.at + MAX_KEY >= this.#source.at) return true;
    if (key.required) throw this.#fail("could not find expected ':'", key.line);
    this.#keyByToken.delete(key.token);
    return false;
  }

  #saveKey(): void {
    if (!this.#keyAllowed) return;
    this.#dropKey();
    const { at, line, column } = this.#source;
    const required = !this.#inFlow && this.#indent === column;
    const key = { token: this.#forgotten + this.#tokens.length, at, line, column, required };
    this.#keys[this.#keys.length - 1] = key;
    this.#keyByToken.set(key.token, key);
  }

  #dropKey(): void {
    const key = this.#keys.at(-1);
    if (key === undefined) return;
    if (key.required && this.#keyByToken.get(key.token) === key)
      throw this.#fail("could not find expected ':'", key.line);
    this.#forgetKey(key);
  }

  #forgetKey(key: PossibleKey): void {
    this.#keyByToken.delete(key.token);
    this.#keys[this.#keys.length - 1] = undefined;
  }

  #fetch(): void {
    this.#skipToToken();
    const source = this.#source;
    this.#unroll(source.column);
    const code = source.code();
    if (code === 0) this.#endOfText();
    else if (source.column === 0 && code === 0x25) this.#directive();
    else if (source.isDocumentMark()) this.#documentMark(code === 0x2d ? "---" : "...");
    else if (!this.#fetchIndicator(code)) this.#fetchContent(code);
  }

  /** Whether the character is a token of its own, or begins one wherever it stands. */
  #fetchIndicator(code: number): boolean {
    switch (code) {
      case 0x5b:
        this.#open("[");
        return true;
      case 0x7b:
        this.#open("{");
        return true;
      case 0x5d:
        this.#close("]");
        return true;
      case 0x7d:
        this.#close("}");
        return true;
      case 0x2c:
        this.#dropKey();
        this.#keyAllowed = true;
        this.#indicator(",");
        return true;
      case 0x2a:
      case 0x26:
        this.#saveKey();
        this.#keyAllowed = false;
        this.#push(anchor(this.#source, code === 0x26 ? "&" : "*"));
        return true;
      case 0x21:
        this.#saveKey();
        this.#keyAllowed = false;
        this.#push(tag(this.#source));
        return true;
      case 0x22:
      case 0x27:
        this.#quoted(code);
        return true;
      default:
        return false;
    }
  }

  #fetchContent(code: number): void {
    const endsWord = isBlankOrEnd(this.#source.code(1));
    if (code === 0x2d && endsWord) this.#item();
    else if (code === 0x3f && (this.#inFlow || endsWord)) this.#key();
    else if (code === 0x3a && (this.#inFlow || endsWord)) this.#value();
    else if ((code === 0x7c || code === 0x3e) && !this.#inFlow) this.#block(code === 0x7c);
    else if (this.#startsPlain(code)) this.#plain();
    else throw this.#fail("found character that cannot start any token");
  }

  #startsPlain(code: number): boolean {
    if (!isBlank(code) && !indicators.has(code)) return true;
    const next = this.#source.code(1);
    if (code === 0x2d) return !isBlank(next);
    return !this.#inFlow && (code === 0x3f || code === 0x3a) && !isBlankOrEnd(next);
  }

  #skipToToken(): void {
    const source = this.#source;
    for (;;) {
      source.skipByteOrderMark();
      while (source.code() === 0x20 || ((this.#inFlow || !this.#keyAllowed) && source.code() === 0x09)) source.at++;
      source.skipComment();
      if (!isBreak(source.code())) return;
      source.takeBreak();
      if (!this.#inFlow) this.#keyAllowed = true;
    }
  }

  #push(found: Token): void {
    this.#tokens.push(found);
  }

  #indicator(type: TokenType): void {
    this.#push(token(type, this.#source.line));
    this.#source.at++;
  }

  /** Begins a block collection at the column, before the token of that number: `number` -1 for the next one. */
  #roll(column: number, number: number, type: "block list" | "block map", line: number): void {
    if (this.#inFlow || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    if (this.#indents.length > MAX_DEPTH) throw this.#fail(TOO_DEEP);
    if (number < 0) this.#push(token(type, line));
    else this.#tokens.splice(number - this.#forgotten, 0, token(type, line));
  }

  /** Ends the block collections that are indented further than the column. */
  #unroll(column: number): void {
    if (this.#inFlow) return;
    while (this.#indent > column) {
      this.#push(token("block end", this.#source.line));
      this.#indent = this.#indents.pop() ?? -1;
    }
  }

  #endOfText(): void {
    this.#source.endLine();
    this.#unroll(-1);
    this.#dropKey();
    this.#keyAllowed = false;
    this.#push(token("end", this.#source.line));
  }

  #directive(): void {
    this.#unroll(-1);
    this.#dropKey();
    this.#keyAllowed = false;
    this.#source.at++;
    this.#push(directive(this.#source));
  }

  #documentMark(type: "---" | "..."): void {
    this.#unroll(-1);
    this.#dropKey();
    this.#keyAllowed = false;
    this.#push(token(type, this.#source.line));
    this.#source.at += 3;
  }

  #open(type: "[" | "{"): void {
    this.#saveKey();
    this.#keys.push(undefined);
    if (this.#keys.length - 1 > MAX_DEPTH) throw this.#fail(TOO_DEEP);
    this.#keyAllowed = true;
    this.#indicator(type);
  }

  #close(type: "]" | "}"): void {
    this.#dropKey();
    if (this.#inFlow) this.#keys.pop();
    this.#keyAllowed = false;
    this.#indicator(type);
  }

  #item(): void {
    const { column, line } = this.#source;
    if (!this.#inFlow && !this.#keyAllowed) throw this.#fail("block sequence entries are not allowed in this context");
    this.#roll(column, -1, "block list", line);
    this.#dropKey();
    this.#keyAllowed = true;
    this.#indicator("-");
  }

  #key(): void {
    const { column, line } = this.#source;
    if (!this.#inFlow && !this.#keyAllowed) throw this.#fail("mapping keys are not allowed in this context");
    this.#roll(column, -1, "block map", line);
    this.#dropKey();
    this.#keyAllowed = !this.#inFlow;
    this.#indicator("?");
  }

  #value(): void {
    const key = this.#keys.at(-1);
    const { column, line } = this.#source;
    if (key !== undefined && this.#isStillPossible(key)) {
      this.#tokens.splice(key.token - this.#forgotten, 0, token("?", key.line));
      this.#roll(key.column, key.token, "block map", key.line);
      this.#forgetKey(key);
      this.#keyAllowed = false;
    } else {
      if (!this.#inFlow && !this.#keyAllowed) throw this.#fail("mapping values are not allowed in this context");
      this.#roll(column, -1, "block map", line);
      this.#keyAllowed = !this.#inFlow;
    }
    this.#indicator(":");
  }

  #block(literal: boolean): void {
    const { line } = this.#source;
    this.#dropKey();
    this.#keyAllowed = true;
    this.#source.at++;
    this.#push(token("scalar", line, blockScalar(this.#source, literal, this.#indent)));
  }

  #quoted(quote: 0x22 | 0x27): void {
    const { line } = this.#source;
    this.#saveKey();
    this.#keyAllowed = false;
    this.#source.at++;
    this.#push(token("scalar", line, quotedScalar(this.#source, quote)));
  }

  #plain(): void {
    const { line } = this.#source;
    this.#saveKey();
    this.#keyAllowed = false;
    const { text, endsLine } = plainScalar(this.#source, this.#indent + 1, this.#inFlow);
    if (endsLine) this.#keyAllowed = true;
    this.#push(token("scalar", line, text, "", true));
  }
}
