/** The tokens of a YAML document, and those that only tags and directives are made of. */
import { isBlank, isBlankOrEnd, isBreakOrEnd, isWord, scannerFault, type YamlSource } from "./yaml-source.ts";

export type TokenType =
  | "%YAML"
  | "%TAG"
  | "---"
  | "..."
  | "["
  | "]"
  | "{"
  | "}"
  | ","
  | "-"
  | "?"
  | ":"
  | "*"
  | "&"
  | "!"
  | "scalar"
  | "block list"
  | "block map"
  | "block end"
  | "end";

export interface Token {
  readonly type: TokenType;
  /** Where it begins, counted from 0. */
  readonly line: number;
  /** The text of a scalar, the name of an anchor, the handle of a tag. */
  readonly value: string;
  /** What follows the handle of a tag. */
  readonly suffix: string;
  /** Of a scalar: without quotes. */
  readonly plain: boolean;
}

export function token(type: TokenType, line: number, value = "", suffix = "", plain = false): Token {
  return { type, line, value, suffix, plain };
}

/** Behind its `%`, to the end of its line. */
export function directive(source: YamlSource): Token {
  const line = source.line;
  const fail = (problem: string) => scannerFault(problem, source.line, line);
  const name = takeWord(source);
  if (name === "") throw fail("could not find expected directive name");
  if (!isBlankOrEnd(source.code())) throw fail("found unexpected non-alphabetical character");
  source.skipBlanks();
  let found: Token;
  if (name === "YAML") {
    found = token("%YAML", line, version(source, fail));
  } else if (name === "TAG") {
    const handle = tagHandle(source, true, fail);
    if (!isBlank(source.code())) throw fail("did not find expected whitespace");
    source.skipBlanks();
    found = token("%TAG", line, handle, tagUri(source, "", fail));
    if (!isBlankOrEnd(source.code())) throw fail("did not find expected whitespace or line break");
  } else {
    throw fail("found unknown directive name");
  }
  source.skipBlanks();
  source.skipComment();
  if (!isBreakOrEnd(source.code())) throw fail("did not find expected comment or line break");
  source.takeBreak();
  return found;
}

function version(source: YamlSource, fail: (problem: string) => Error): string {
  const number = (): string => {
    const start = source.at;
    while (source.code() >= 0x30 && source.code() <= 0x39) {
      if (source.at - start === 2) throw fail("found extremely long version number");
      source.at++;
    }
    if (source.at === start) throw fail("did not find expected version number");
    return source.from(start);
  };
  const major = number();
  if (source.code() !== 0x2e) throw fail("did not find expected digit or '.' character");
  source.at++;
  return `${Number(major)}.${Number(number())}`;
}

function takeWord(source: YamlSource): string {
  const start = source.at;
  while (isWord(source.code())) source.at++;
  return source.from(start);
}

const afterAnchor = new Set([..."?:,]}%@`"].map((char) => char.charCodeAt(0)));

/** At its `&` or `*`. */
export function anchor(source: YamlSource, type: "&" | "*"): Token {
  const line = source.line;
  source.at++;
  const name = takeWord(source);
  if (name === "" || !(isBlankOrEnd(source.code()) || afterAnchor.has(source.code())))
    throw scannerFault("did not find expected alphabetic or numeric character", source.line, line);
  return token(type, line, name);
}

/** At its `!`. */
export function tag(source: YamlSource): Token {
  const line = source.line;
  const fail = (problem: string) => scannerFault(problem, source.line, line);
  let handle = "";
  let suffix: string;
  if (source.code(1) === 0x3c) {
    source.at += 2;
    suffix = tagUri(source, "", fail);
    if (source.code() !== 0x3e) throw fail("did not find the expected '>'");
    source.at++;
  } else {
    handle = tagHandle(source, false, fail);
    if (handle.length > 1 && handle.endsWith("!")) {
      suffix = tagUri(source, "", fail);
    } else {
      suffix = tagUri(source, handle, fail);
      [handle, suffix] = suffix === "" ? ["", "!"] : ["!", suffix];
    }
  }
  if (!isBlankOrEnd(source.code())) throw fail("did not find expected whitespace or line break");
  return token("!", line, handle, suffix);
}

function tagHandle(source: YamlSource, inDirective: boolean, fail: (problem: string) => Error): string {
  if (source.code() !== 0x21) throw fail("did not find expected '!'");
  const start = source.at;
  source.at++;
  takeWord(source);
  if (source.code() === 0x21) source.at++;
  else if (inDirective && source.at - start > 1) throw fail("did not find expected '!'");
  return source.from(start);
}

const inUri = new Set([...";/?:@&=+$,.!~*'()[]"].map((char) => char.charCodeAt(0)));
const escapedOctets = /^(?:%[\da-fA-F]{2})+/;

/** `head`: what was taken for a handle, and is none. */
function tagUri(source: YamlSource, head: string, fail: (problem: string) => Error): string {
  const parts = [head.slice(1)];
  let start = source.at;
  for (;;) {
    const code = source.code();
    if (code === 0x25) {
      parts.push(source.from(start), octets(source, fail));
      start = source.at;
    } else if (isWord(code) || inUri.has(code)) {
      source.at++;
    } else {
      break;
    }
  }
  parts.push(source.from(start));
  const uri = parts.join("");
  if (uri === "" && head === "") throw fail("did not find expected tag URI");
  return uri;
}

/** The escaped octets of one character. */
function octets(source: YamlSource, fail: (problem: string) => Error): string {
  const sequence = escapedOctets.exec(source.ahead(12))?.[0] ?? "";
  if (sequence === "") throw fail("did not find URI escaped octet");
  const leading = Number.parseInt(sequence.slice(1, 3), 16);
  const width =
    leading < 0x80 ? 1 : leading < 0xc0 ? 0 : leading < 0xe0 ? 2 : leading < 0xf0 ? 3 : leading < 0xf8 ? 4 : 0;
  if (width === 0) throw fail("found an incorrect leading UTF-8 octet");
  if (sequence.length < width * 3) throw fail("did not find URI escaped octet");
  try {
    const char = decodeURIComponent(sequence.slice(0, width * 3));
    source.at += width * 3;
    return char;
  } catch {
    throw fail("found an incorrect trailing UTF-8 octet");
  }
}
