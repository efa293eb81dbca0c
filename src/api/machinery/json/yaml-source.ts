/**
 * The text of a YAML document and a position in it, with what libyaml calls blanks and breaks.
 *
 * 1. The end of the text reads as the code 0, at any distance: no other character has that code, because control
 *    characters are refused.
 */

export class YamlSyntaxError extends Error {
  override readonly name = "YamlSyntaxError";
}

/** As Go prints faults: with the line, counted from 1 by the scanner, and without one where it is the first. */
export function scannerFault(problem: string, line: number, contextLine: number): YamlSyntaxError {
  return fault(problem, line === 0 ? contextLine : line + 1);
}

/** Of the parser, which is a line behind. */
export function parserFault(problem: string, line: number, contextLine = 0): YamlSyntaxError {
  return fault(problem, line === 0 ? contextLine : line);
}

function fault(problem: string, line: number): YamlSyntaxError {
  return new YamlSyntaxError(line === 0 ? `yaml: ${problem}` : `yaml: line ${line}: ${problem}`);
}

const control = /[^\t\n\r\x20-\x7e\x85\xa0-\ufffd]/;

export class YamlSource {
  readonly #text: string;
  at = 0;
  /** Counted from 0. */
  line = 0;
  #lineStart = 0;

  constructor(text: string) {
    if (control.test(text)) throw new YamlSyntaxError("yaml: control characters are not allowed");
    this.#text = text;
  }

  get column(): number {
    return this.at - this.#lineStart;
  }

  code(ahead = 0): number {
    const at = this.at + ahead;
    return at < this.#text.length ? this.#text.charCodeAt(at) : 0;
  }

  from(start: number): string {
    return this.#text.slice(start, this.at);
  }

  /** The next characters, fewer at the end. */
  ahead(length: number): string {
    return this.#text.slice(this.at, this.at + length);
  }

  /** Whether a line begins here with `---` or `...` alone. */
  isDocumentMark(): boolean {
    if (this.column !== 0) return false;
    const code = this.code();
    return (
      (code === 0x2d || code === 0x2e) && this.code(1) === code && this.code(2) === code && isBlankOrEnd(this.code(3))
    );
  }

  skipBlanks(): void {
    while (isBlank(this.code())) this.at++;
  }

  skipComment(): void {
    if (this.code() === 0x23) while (!isBreakOrEnd(this.code())) this.at++;
  }

  /** Skips a break, if there is one, and gives what it reads as. */
  takeBreak(): string {
    const code = this.code();
    if (!isBreak(code)) return "";
    this.at += code === 0x0d && this.code(1) === 0x0a ? 2 : 1;
    this.line++;
    this.#lineStart = this.at;
    return code === 0x2028 || code === 0x2029 ? String.fromCharCode(code) : "\n";
  }

  /** The end of the text counts as the beginning of another line. */
  endLine(): void {
    if (this.column === 0) return;
    this.line++;
    this.#lineStart = this.at;
  }

  skipByteOrderMark(): void {
    if (this.column !== 0 || this.code() !== 0xfeff) return;
    this.at++;
    this.#lineStart = this.at;
  }
}

/** A space or a tab. */
export function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

export function isBreak(code: number): boolean {
  return code === 0x0a || code === 0x0d || code === 0x85 || code === 0x2028 || code === 0x2029;
}

export function isBreakOrEnd(code: number): boolean {
  return code === 0 || isBreak(code);
}

export function isBlankOrEnd(code: number): boolean {
  return code === 0 || code === 0x20 || code === 0x09 || isBreak(code);
}

/** Letters, digits, `_` and `-`: what names of anchors, tags and directives are made of. */
export function isWord(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x5f ||
    code === 0x2d
  );
}
