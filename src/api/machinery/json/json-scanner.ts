/**
 * Reads JSON text character by character: finds the first syntax error, in Go's words, and reports every key on the
 * way.
 */
import { goQuote } from "./go-text.ts";

/** Called for each key; false skips the keys inside of it. */
export type OnKey = (path: string, repeated: boolean) => boolean;

/**
 * The deepest nesting of a document. Go's limit is 10,000; here, what walks over documents is recursive, and no stack
 * is left beyond some 2,000.
 */
export const MAX_DEPTH = 1_000;
const TOO_DEEP = "invalid character '{' exceeded max depth";

class Malformed extends Error {}

export class JsonScanner {
  readonly #text: string;
  readonly #onKey: OnKey | undefined;
  #at = 0;
  #depth = 0;

  constructor(text: string, onKey?: OnKey) {
    this.#text = text;
    this.#onKey = onKey;
  }

  /** The syntax error; undefined if there is none. */
  scan(): string | undefined {
    try {
      this.#value("", this.#onKey !== undefined);
      this.#blanks();
      if (this.#at < this.#text.length) this.#invalid("after top-level value");
      return undefined;
    } catch (error) {
      if (error instanceof Malformed) return error.message;
      if (error instanceof RangeError) return TOO_DEEP;
      throw error;
    }
  }

  #value(path: string, telling: boolean): void {
    this.#blanks();
    const char = this.#peek();
    if (char === "{") this.#nested(() => this.#object(path, telling));
    else if (char === "[") this.#nested(() => this.#array(path, telling));
    else if (char === '"') this.#string();
    else if (char === "t") this.#literal("true");
    else if (char === "f") this.#literal("false");
    else if (char === "n") this.#literal("null");
    else if (char === "-" || isDigit(char)) this.#number();
    else this.#invalid("looking for beginning of value");
  }

  #nested(read: () => void): void {
    if (++this.#depth > MAX_DEPTH) this.#invalid("exceeded max depth");
    this.#at++;
    read();
    this.#depth--;
  }

  #object(path: string, telling: boolean): void {
    const seen = new Set<string>();
    this.#blanks();
    if (this.#skip("}")) return;
    for (;;) {
      this.#blanks();
      if (this.#peek() !== '"') this.#invalid("looking for beginning of object key string");
      const key = this.#string();
      this.#blanks();
      if (!this.#skip(":")) this.#invalid("after object key");
      const inner = path === "" ? key : `${path}.${key}`;
      const going = telling && (this.#onKey?.(inner, seen.has(key)) ?? false);
      seen.add(key);
      this.#value(inner, going);
      this.#blanks();
      if (this.#skip("}")) return;
      if (!this.#skip(",")) this.#invalid("after object key:value pair");
    }
  }

  #array(path: string, telling: boolean): void {
    this.#blanks();
    if (this.#skip("]")) return;
    for (let i = 0; ; i++) {
      this.#value(`${path}[${i}]`, telling);
      this.#blanks();
      if (this.#skip("]")) return;
      if (!this.#skip(",")) this.#invalid("after array element");
    }
  }

  #string(): string {
    const start = this.#at++;
    for (;;) {
      const char = this.#peek();
      if (char === '"') break;
      if (char < " ") this.#invalid("in string literal");
      this.#at++;
      if (char === "\\") this.#escape();
    }
    this.#at++;
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #escape(): void {
    const char = this.#peek();
    if (!'bfnrt\\/"u'.includes(char)) this.#invalid("in string escape code");
    this.#at++;
    for (let i = 0; char === "u" && i < 4; i++) {
      if (!/[0-9a-fA-F]/.test(this.#peek())) this.#invalid("in \\u hexadecimal character escape");
      this.#at++;
    }
  }

  #literal(word: string): void {
    for (const [i, char] of [...word].entries()) {
      if (this.#peek() !== char)
        this.#invalid(i === 0 ? "looking for beginning of value" : `in literal ${word} (expecting '${char}')`);
      this.#at++;
    }
  }

  #number(): void {
    this.#skip("-");
    if (!this.#skip("0")) this.#digits("in numeric literal");
    if (this.#skip(".")) this.#digits("after decimal point in numeric literal");
    if (this.#skip("e") || this.#skip("E")) {
      if (!this.#skip("+")) this.#skip("-");
      this.#digits("in exponent of numeric literal");
    }
  }

  #digits(where: string): void {
    if (!isDigit(this.#peek())) this.#invalid(where);
    while (isDigit(this.#text.charAt(this.#at))) this.#at++;
  }

  #blanks(): void {
    while (/[ \t\r\n]/.test(this.#text.charAt(this.#at))) this.#at++;
  }

  #skip(char: string): boolean {
    if (this.#text.charAt(this.#at) !== char) return false;
    this.#at++;
    return true;
  }

  #peek(): string {
    if (this.#at >= this.#text.length) throw new Malformed("unexpected end of JSON input");
    return this.#text.charAt(this.#at);
  }

  /** Go looks at bytes: for a character outside of ASCII it prints the first one. */
  #invalid(where: string): never {
    if (this.#at >= this.#text.length) throw new Malformed("unexpected end of JSON input");
    const [byte = 0] = new TextEncoder().encode(this.#text.slice(this.#at, this.#at + 2));
    const char = String.fromCharCode(byte);
    const quoted = char === "'" ? "'\\''" : char === '"' ? "'\"'" : `'${goQuote(char).slice(1, -1)}'`;
    throw new Malformed(`invalid character ${quoted} ${where}`);
  }
}

function isDigit(char: string): boolean {
  return char >= "0" && char <= "9" && char.length === 1;
}
