/**
 * The text of the scalars of a YAML document: plain, quoted, and blocks. Lines are folded as YAML 1.1 says.
 *
 * 1. Text is cut out in runs, not copied by characters, and each character is looked at a fixed number of times.
 */
import { isBlank, isBlankOrEnd, isBreak, isBreakOrEnd, scannerFault, type YamlSource } from "./yaml-source.ts";

export interface PlainScalar {
  readonly text: string;
  /** Whether blanks behind it reach into another line. */
  readonly endsLine: boolean;
}

/** `indent`: the least column of its further lines, unless it is in brackets. */
export function plainScalar(source: YamlSource, indent: number, inFlow: boolean): PlainScalar {
  const first = source.line;
  let text = "";
  let blanks = "";
  let endsLine = false;
  for (;;) {
    if (source.isDocumentMark() || source.code() === 0x23) break;
    const start = source.at;
    while (!endsPlain(source, inFlow)) source.at++;
    if (source.at > start) {
      text += blanks + source.from(start);
      blanks = "";
      endsLine = false;
    }
    const code = source.code();
    if (!isBlank(code) && !isBreak(code)) break;
    const gap = takeGap(source, false, (column) => {
      if (column < indent) throw scannerFault("found a tab character that violates indentation", source.line, first);
    });
    blanks = gap.text;
    endsLine = gap.breaks;
    if (!inFlow && source.column < indent) break;
  }
  return { text, endsLine };
}

function endsPlain(source: YamlSource, inFlow: boolean): boolean {
  const code = source.code();
  if (isBlankOrEnd(code)) return true;
  if (code === 0x3a) return isBlankOrEnd(source.code(1));
  // , ? [ ] { }
  return inFlow && (code === 0x2c || code === 0x3f || code === 0x5b || code === 0x5d || code === 0x7b || code === 0x7d);
}

interface Gap {
  readonly text: string;
  readonly breaks: boolean;
}

/**
 * Blanks and breaks between two words: blanks alone stay, one break reads as a space, further ones as themselves.
 * `escaped`: an escaped break came before, which reads as nothing.
 */
function takeGap(source: YamlSource, escaped: boolean, onTab?: (column: number) => void): Gap {
  const start = source.at;
  source.skipBlanks();
  if (!escaped && !isBreak(source.code())) return { text: source.from(start), breaks: false };
  const first = escaped ? "" : source.takeBreak();
  const more: string[] = [];
  for (;;) {
    const code = source.code();
    if (code === 0x09) onTab?.(source.column);
    if (isBlank(code)) source.at++;
    else if (isBreak(code)) more.push(source.takeBreak());
    else break;
  }
  if (first === "\n") return { text: more.length === 0 ? " " : more.join(""), breaks: true };
  return { text: first + more.join(""), breaks: true };
}

/** Behind its opening quote, up to and with its closing one. */
export function quotedScalar(source: YamlSource, quote: 0x22 | 0x27): string {
  const first = source.line;
  const fail = (problem: string) => scannerFault(problem, source.line, first);
  const parts: string[] = [];
  for (;;) {
    if (source.isDocumentMark()) throw fail("found unexpected document indicator");
    if (source.code() === 0) throw fail("found unexpected end of stream");
    const escapedBreak = quotedWord(source, quote, parts, fail);
    if (source.code() === quote) break;
    parts.push(takeGap(source, escapedBreak).text);
  }
  source.at++;
  return parts.join("");
}

/** Reads up to a blank, a break or the closing quote; whether an escaped break ended it. */
function quotedWord(
  source: YamlSource,
  quote: 0x22 | 0x27,
  parts: string[],
  fail: (problem: string) => Error,
): boolean {
  let start = source.at;
  const flush = () => {
    if (source.at > start) parts.push(source.from(start));
  };
  for (;;) {
    const code = source.code();
    if (isBlankOrEnd(code)) break;
    if (code === quote && !(quote === 0x27 && source.code(1) === 0x27)) break;
    if (code === quote) {
      flush();
      parts.push("'");
      source.at += 2;
      start = source.at;
    } else if (code === 0x5c && quote === 0x22) {
      flush();
      source.at++;
      if (isBreak(source.code())) {
        source.takeBreak();
        return true;
      }
      parts.push(escaped(source, fail));
      start = source.at;
    } else {
      source.at++;
    }
  }
  flush();
  return false;
}

const escapes: ReadonlyMap<string, string> = new Map([
  ["0", "\0"],
  ["a", "\x07"],
  ["b", "\b"],
  ["t", "\t"],
  ["\t", "\t"],
  ["n", "\n"],
  ["v", "\v"],
  ["f", "\f"],
  ["r", "\r"],
  ["e", "\x1b"],
  [" ", " "],
  ['"', '"'],
  ["'", "'"],
  ["\\", "\\"],
  ["N", "\x85"],
  ["_", "\xa0"],
  ["L", "\u2028"],
  ["P", "\u2029"],
]);
const codeLengths: ReadonlyMap<string, number> = new Map([
  ["x", 2],
  ["u", 4],
  ["U", 8],
]);

/** Behind the backslash. */
function escaped(source: YamlSource, fail: (problem: string) => Error): string {
  const letter = source.ahead(1);
  const plain = escapes.get(letter);
  const length = codeLengths.get(letter);
  if (plain === undefined && length === undefined) {
    source.at--;
    throw fail("found unknown escape character");
  }
  source.at++;
  if (plain !== undefined) return plain;
  const digits = source.ahead(length ?? 0);
  if (digits.length !== length || !/^[\da-fA-F]+$/.test(digits)) throw fail("did not find expected hexdecimal number");
  const code = Number.parseInt(digits, 16);
  if ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) throw fail("found invalid Unicode character escape code");
  source.at += digits.length;
  return String.fromCodePoint(code);
}

/** Behind its `|` or `>`. `parentIndent`: of the collection that it stands in, -1 for none. */
export function blockScalar(source: YamlSource, literal: boolean, parentIndent: number): string {
  const first = source.line;
  const fail = (problem: string) => scannerFault(problem, source.line, first);
  const { chomping, increment } = blockHeader(source, fail);
  let indent = increment === 0 ? 0 : Math.max(parentIndent, 0) + increment;
  const takeBreaks = (): string[] => {
    const found = blockBreaks(source, indent, parentIndent, fail);
    indent = found.indent;
    return found.breaks;
  };
  let breaks = takeBreaks();
  const parts: string[] = [];
  let lineBreak = "";
  let afterBlank = false;
  while (source.column === indent && source.code() !== 0) {
    const startsBlank = isBlank(source.code());
    const folds = !literal && !afterBlank && !startsBlank && lineBreak === "\n";
    if (!folds) parts.push(lineBreak);
    else if (breaks.length === 0) parts.push(" ");
    parts.push(...pieces(breaks));
    afterBlank = startsBlank;
    const start = source.at;
    while (!isBreakOrEnd(source.code())) source.at++;
    parts.push(source.from(start));
    lineBreak = source.takeBreak();
    breaks = takeBreaks();
  }
  if (chomping !== "-") parts.push(lineBreak);
  if (chomping === "+") parts.push(...pieces(breaks));
  return parts.join("");
}

/** As one string: there may be more breaks than a call takes arguments. */
function pieces(breaks: readonly string[]): readonly string[] {
  return breaks.length === 0 ? [] : [breaks.join("")];
}

function blockHeader(source: YamlSource, fail: (problem: string) => Error) {
  const header = /^(?:([+-])(\d?)|(\d)([+-]?))/.exec(source.ahead(2));
  const digit = header?.[2] || header?.[3] || "";
  const chomping = header?.[1] || header?.[4] || "";
  if (digit === "0") throw fail("found an indentation indicator equal to 0");
  source.at += digit.length + chomping.length;
  source.skipBlanks();
  source.skipComment();
  if (!isBreakOrEnd(source.code())) throw fail("did not find expected comment or line break");
  source.takeBreak();
  return { chomping, increment: Number(digit) };
}

/** Skips empty lines and indentation. An indent of 0 is not known yet: the first line that is not empty decides. */
function blockBreaks(source: YamlSource, known: number, parentIndent: number, fail: (problem: string) => Error) {
  const breaks: string[] = [];
  let widest = 0;
  for (;;) {
    while ((known === 0 || source.column < known) && source.code() === 0x20) source.at++;
    widest = Math.max(widest, source.column);
    if ((known === 0 || source.column < known) && source.code() === 0x09)
      throw fail("found a tab character where an indentation space is expected");
    if (!isBreak(source.code())) break;
    breaks.push(source.takeBreak());
  }
  return { breaks, indent: known === 0 ? Math.max(widest, parentIndent + 1, 1) : known };
}
