/**
 * Splits text into tokens.
 *
 * 1. The longest token at a position wins.
 * 2. Invalid characters are reported and skipped, so that a fault here never hides a later one.
 * 3. Time is linear in the text.
 */
import type { Issue } from "./source.ts";

/** Names as in messages, in the order in which messages list expected tokens. */
export const tokenTypes = [
  "'=='",
  "'!='",
  "'in'",
  "'<'",
  "'<='",
  "'>='",
  "'>'",
  "'&&'",
  "'||'",
  "'['",
  "']'",
  "'{'",
  "'}'",
  "'('",
  "')'",
  "'.'",
  "','",
  "'-'",
  "'!'",
  "'?'",
  "':'",
  "'+'",
  "'*'",
  "'/'",
  "'%'",
  "'true'",
  "'false'",
  "'null'",
  "NUM_FLOAT",
  "NUM_INT",
  "NUM_UINT",
  "STRING",
  "BYTES",
  "IDENTIFIER",
  "ESC_IDENTIFIER",
  "<EOF>",
] as const;

export type TokenType = (typeof tokenTypes)[number];

export interface Token {
  readonly type: TokenType;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const space = /[\t \r\n\f]+|\/\/[^\n]*/y;
const identifier = /[A-Za-z_][A-Za-z0-9_]*/y;
const escapedIdentifier = /`[A-Za-z0-9_./ -]+`/y;
const symbol = /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/y;
const float = /\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?/y;
const uint = /(?:0x[0-9a-fA-F]+|\d+)[uU]/y;
const int = /0x[0-9a-fA-F]+|\d+/y;
const escapeSequence = /\\(?:[abfnrtv"'\\?`]|[0-3][0-7]{2}|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})/y;
const keywords = new Set(["in", "true", "false", "null"]);

export function tokenize(text: string): { readonly tokens: readonly Token[]; readonly issues: readonly Issue[] } {
  const tokens: Token[] = [];
  const issues: Issue[] = [];
  let at = 0;
  while (at < text.length) {
    const blank = match(space, text, at);
    if (blank > 0) {
      at += blank;
      continue;
    }
    const token = longest(text, at);
    if (token !== undefined) {
      tokens.push(token);
      at = token.end;
      continue;
    }
    const end = faultEnd(text, at);
    issues.push({ message: `Syntax error: token recognition error at: '${text.slice(at, end)}'`, offset: at });
    at = end;
  }
  tokens.push({ type: "<EOF>", text: "<EOF>", start: text.length, end: text.length });
  return { tokens, issues };
}

function longest(text: string, at: number): Token | undefined {
  let type: TokenType | undefined;
  let length = 0;
  const offer = (offered: TokenType, size: number): void => {
    if (size > length) [type, length] = [offered, size];
  };
  const word = match(identifier, text, at);
  if (word > 0) {
    const name = text.slice(at, at + word);
    offer(keywords.has(name) ? (`'${name}'` as TokenType) : "IDENTIFIER", word);
  }
  const mark = match(symbol, text, at);
  if (mark > 0) offer(`'${text.slice(at, at + mark)}'` as TokenType, mark);
  offer("NUM_FLOAT", match(float, text, at));
  offer("NUM_UINT", match(uint, text, at));
  offer("NUM_INT", match(int, text, at));
  offer("ESC_IDENTIFIER", match(escapedIdentifier, text, at));
  offer("STRING", stringLength(text, at));
  const first = text[at];
  if (first === "b" || first === "B") {
    const size = stringLength(text, at + 1);
    if (size > 0) offer("BYTES", size + 1);
  }
  return type && { type, text: text.slice(at, at + length), start: at, end: at + length };
}

function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex - at : 0;
}

/** The length of the string literal that begins here; 0 if there is none. */
function stringLength(text: string, at: number): number {
  const raw = text[at] === "r" || text[at] === "R";
  const start = raw ? at + 1 : at;
  const quote = text[start];
  if (quote !== '"' && quote !== "'") return 0;
  const triple = text.startsWith(quote.repeat(3), start) ? scanTriple(text, start + 3, quote.repeat(3), raw) : -1;
  if (triple !== -1) return triple - at;
  const end = scanSingle(text, start + 1, quote, raw);
  return end.closed ? end.at - at : 0;
}

function scanTriple(text: string, from: number, quotes: string, raw: boolean): number {
  let at = from;
  while (at < text.length) {
    if (text.startsWith(quotes, at)) return at + 3;
    if (text[at] === "\\" && !raw) {
      const size = match(escapeSequence, text, at);
      if (size === 0) return -1;
      at += size;
    } else {
      at++;
    }
  }
  return -1;
}

/** The end of the closing quote; if it is not closed, the first character that cannot stand there. */
function scanSingle(text: string, from: number, quote: string, raw: boolean): { at: number; closed: boolean } {
  let at = from;
  while (at < text.length) {
    const char = text[at];
    if (char === quote) return { at: at + 1, closed: true };
    if (char === "\n" || char === "\r") return { at, closed: false };
    if (char === "\\" && !raw) {
      const size = match(escapeSequence, text, at);
      if (size === 0) return { at: badEscapeEnd(text, at), closed: false };
      at += size;
    } else {
      at++;
    }
  }
  return { at, closed: false };
}

/** The first invalid character of an escape sequence. */
function badEscapeEnd(text: string, at: number): number {
  const kind = text[at + 1];
  if (kind === undefined) return at + 1;
  const digits =
    kind === "x" || kind === "X" ? 2 : kind === "u" ? 4 : kind === "U" ? 8 : /[0-3]/.test(kind) ? 2 : undefined;
  if (digits === undefined) return at + 1;
  const fits = /[0-3]/.test(kind) ? /[0-7]/ : /[0-9a-fA-F]/;
  for (let index = 0; index < digits; index++) if (!fits.test(text[at + 2 + index] ?? "")) return at + 2 + index;
  return at + 2 + digits;
}

/** The position after the character at which no token can continue. */
function faultEnd(text: string, at: number): number {
  const first = text[at];
  if (first === '"' || first === "'") return Math.min(scanSingle(text, at + 1, first, false).at + 1, text.length);
  if (first === "&" || first === "|" || first === "=") return pointEnd(text, at + 1);
  if (first === "`") {
    let end = at + 1;
    while (/[A-Za-z0-9_./ -]/.test(text[end] ?? "")) end++;
    return pointEnd(text, end);
  }
  return pointEnd(text, at);
}

function pointEnd(text: string, at: number): number {
  const point = text.codePointAt(at);
  if (point === undefined) return Math.min(at, text.length);
  return at + (point > 0xffff ? 2 : 1);
}
