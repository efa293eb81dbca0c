/** The values of number and string literals. */

import { table } from "#base";
import { Uint, type Value } from "../values/value.ts";
import type { Token } from "./lexer.ts";

const maxInt = 2n ** 63n - 1n;
const maxUint = 2n ** 64n - 1n;

export class LiteralFault {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** The value of a literal token; `negative` if a sign belongs to it. */
export function literalValue(token: Token, negative: boolean): Value | LiteralFault {
  switch (token.type) {
    case "NUM_INT": {
      const magnitude = BigInt(token.text);
      const value = negative ? -magnitude : magnitude;
      return value > maxInt || value < -maxInt - 1n ? new LiteralFault("invalid int literal") : value;
    }
    case "NUM_UINT": {
      const value = BigInt(token.text.slice(0, -1));
      return value > maxUint ? new LiteralFault("invalid uint literal") : new Uint(value);
    }
    case "NUM_FLOAT": {
      const value = Number(token.text);
      if (!Number.isFinite(value)) return new LiteralFault("invalid double literal");
      return negative ? -value : value;
    }
    case "STRING":
      return unquoted(token.text, false);
    case "BYTES":
      return unquoted(token.text.slice(1), true);
    case "'true'":
      return true;
    case "'false'":
      return false;
    default:
      return null;
  }
}

const escapes =
  /\\(?:([abfnrtv"'\\?`])|([0-3][0-7]{2})|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))|\r\n?/g;
const simple: Readonly<Record<string, string>> = table({
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
});

function unquoted(literal: string, bytes: boolean): string | Uint8Array | LiteralFault {
  const raw = literal[0] === "r" || literal[0] === "R";
  const quoted = raw ? literal.slice(1) : literal;
  const width = isTriple(quoted) ? 3 : 1;
  const body = quoted.slice(width, -width);
  if (raw) {
    const text = body.replace(/\r\n?/g, "\n");
    return bytes ? new TextEncoder().encode(text) : text;
  }
  return bytes ? unescapedBytes(body) : unescapedText(body);
}

function isTriple(quoted: string): boolean {
  return quoted.length >= 6 && (quoted.startsWith('"""') || quoted.startsWith("'''"));
}

function unescapedText(body: string): string | LiteralFault {
  let fault: LiteralFault | undefined;
  const text = body.replace(
    escapes,
    (_, char?: string, octal?: string, hex?: string, short?: string, long?: string) => {
      if (char !== undefined) return simple[char] ?? char;
      if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8));
      const digits = hex ?? short ?? long;
      if (digits === undefined) return "\n";
      const character = pointText(digits);
      if (character === undefined) fault = new LiteralFault("invalid unicode code point");
      return character ?? "";
    },
  );
  return fault ?? text;
}

/** The character with this hexadecimal code point; undefined for surrogates. */
function pointText(digits: string): string | undefined {
  const point = Number.parseInt(digits, 16);
  return point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? undefined : String.fromCodePoint(point);
}

function unescapedBytes(body: string): Uint8Array | LiteralFault {
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  let last = 0;
  for (const found of body.matchAll(escapes)) {
    bytes.push(...encoder.encode(body.slice(last, found.index)));
    last = found.index + found[0].length;
    const [, char, octal, hex, short, long] = found;
    const point = short ?? long;
    if (point !== undefined) {
      const text = pointText(point);
      if (text === undefined) return new LiteralFault("invalid unicode code point");
      bytes.push(...encoder.encode(text));
    } else if (char !== undefined) bytes.push((simple[char] ?? char).charCodeAt(0));
    else if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else bytes.push(hex === undefined ? 0x0a : Number.parseInt(hex, 16));
  }
  bytes.push(...encoder.encode(body.slice(last)));
  return Uint8Array.from(bytes);
}
