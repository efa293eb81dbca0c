/**
 * `"%s has %d".format([…])`.
 *
 * 1. Each clause takes one argument: %s %d %f %e %b %o %x %X, with a precision before f and e. %% is a percent sign.
 * 2. %f and %e write numbers the American way: `12,345.678900`, `1.234568×10⁰⁴`. For %e the precision is only a minimum
 *    width, as in Kubernetes.
 * 3. Inside of lists and maps, values are written as CEL literals.
 */
import { table } from "#base";
import { goQuote } from "../../../json/go-text.ts";
import { encodeHex } from "../../../scalars/base64.ts";
import { typeName } from "../../values/type.ts";
import {
  CelError,
  Duration,
  ListValue,
  MapValue,
  ObjectValue,
  type Outcome,
  Timestamp,
  TypeValue,
  typeOf,
  Uint,
  type Value,
} from "../../values/value.ts";
import { longestText, tooLong } from "./characters.ts";
import { fixedDecimal, scientificDecimal } from "./decimal-text.ts";
import { plainText } from "./plain-text.ts";

/** The limit of Go's fmt. */
const greatestPrecision = 1_000_000;

export type Letter = "s" | "d" | "f" | "e" | "b" | "o" | "x" | "X";

export interface Clause {
  readonly letter: Letter;
  readonly precision: number;
  readonly end: number;
}

export function format(template: string, args: ListValue): string | CelError {
  return interpolate(template, args.size, ({ letter, precision }, index) => {
    const argument = args.at(index);
    return argument instanceof CelError ? argument : writers[letter](argument, precision);
  });
}

/** The template with the text of each clause; `write` gets the clause and the index of its argument. */
export function interpolate(
  template: string,
  count: number,
  write: (clause: Clause, index: number) => string | CelError,
): string | CelError {
  let text = "";
  let used = 0;
  for (let at = 0; at < template.length; ) {
    const percent = template.indexOf("%", at);
    if (percent < 0) return text + template.slice(at);
    text += template.slice(at, percent);
    if (template[percent + 1] === "%") {
      text += "%";
      at = percent + 2;
      continue;
    }
    if (used >= count) return new CelError(`index ${used} out of range`);
    if (percent + 1 >= template.length) return new CelError("unexpected end of string");
    const clause = parseClause(template, percent + 1);
    if (clause instanceof CelError) return clause;
    const written = write(clause, used++);
    if (written instanceof CelError) return new CelError(`error during formatting: ${written.message}`);
    if (text.length + written.length > longestText) return tooLong;
    text += written;
    at = clause.end;
  }
  return text;
}

function parseClause(template: string, start: number): Clause | CelError {
  const fail = (why: string) => new CelError(`could not parse formatting clause: ${why}`);
  let at = start;
  let precision = 6;
  if (template[at] === ".") {
    const digits = /\d*/y;
    digits.lastIndex = at + 1;
    const [found = ""] = digits.exec(template) ?? [];
    at += 1 + found.length;
    if (at >= template.length) return fail("error while parsing precision: could not find end of precision specifier");
    precision = Number(found);
    const wrong = found === "" ? "invalid syntax" : precision > greatestPrecision ? "value out of range" : "";
    if (wrong !== "")
      return fail(
        `error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing ${goQuote(found)}: ${wrong}`,
      );
  }
  const letter = String.fromCodePoint(template.codePointAt(at) ?? 0);
  return isLetter(letter) ? { letter, precision, end: at + 1 } : fail(`unrecognized formatting clause "${letter}"`);
}

function isLetter(text: string): text is Letter {
  return text.length === 1 && "sdfeboxX".includes(text);
}

type Write = (value: Value, precision: number) => string | CelError;

/** The types that each clause accepts, in the words of Kubernetes. */
export const uses: Readonly<Record<Letter, string>> = {
  s: "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
  d: "decimal clause can only be used on integers",
  f: "fixed-point clause can only be used on doubles",
  e: "scientific clause can only be used on doubles",
  b: "only integers and bools can be formatted as binary",
  o: "octal clause can only be used on integers",
  x: "only integers, byte buffers, and strings can be formatted as hex",
  X: "only integers, byte buffers, and strings can be formatted as hex",
};

const writers: Readonly<Record<Letter, Write>> = {
  s: writeText,
  d: (value) => integerIn(value, 10) ?? wrong(value, uses.d),
  f: (value, precision) => writeDouble(value, uses.f, (double) => fixedDecimal(double, precision)),
  e: (value, precision) => writeDouble(value, uses.e, (double) => scientificDecimal(double).padStart(precision)),
  b: (value) => (typeof value === "boolean" ? String(Number(value)) : (integerIn(value, 2) ?? wrong(value, uses.b))),
  o: (value) => integerIn(value, 8) ?? wrong(value, uses.o),
  x: writeHexadecimal,
  X: (value) => {
    const written = writeHexadecimal(value);
    return typeof written === "string" ? written.toUpperCase() : written;
  },
};

function writeText(value: Value): string | CelError {
  if (value instanceof ListValue) return listText(value);
  if (value instanceof MapValue && !(value instanceof ObjectValue)) return mapText(value);
  return plainText(value) ?? wrong(value, uses.s);
}

function writeHexadecimal(value: Value): string | CelError {
  if (typeof value === "string") return encodeHex(new TextEncoder().encode(value));
  if (value instanceof Uint8Array) return encodeHex(value);
  return integerIn(value, 16) ?? wrong(value, uses.x);
}

const specialDoubles: Readonly<Record<string, number>> = table({
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "-Infinity": Number.NEGATIVE_INFINITY,
});

function writeDouble(value: Value, use: string, write: (double: number) => string): string | CelError {
  const double = typeof value === "string" ? specialDoubles[value] : value;
  return typeof double === "number" ? write(double) : wrong(value, use);
}

function integerIn(value: Value, base: number): string | undefined {
  if (typeof value === "bigint") return value.toString(base);
  return value instanceof Uint ? value.value.toString(base) : undefined;
}

function wrong(value: Value, why: string): CelError {
  return new CelError(`${why}, was given ${typeName(typeOf(value))}`);
}

function listText(list: ListValue): string | CelError {
  const items: string[] = [];
  for (let index = 0; index < list.size; index++) {
    const written = literal(list.at(index));
    if (written instanceof CelError) return written;
    items.push(written);
  }
  return `[${items.join(", ")}]`;
}

/** Entries sorted by the text of their keys. */
function mapText(map: MapValue): string | CelError {
  const entries: [string, string][] = [];
  for (const key of map.keys()) {
    const writtenKey = keyText(key);
    if (writtenKey instanceof CelError) return writtenKey;
    const value = map.get(key);
    const written = value === undefined ? new CelError(`could not find key: ${goQuote(writtenKey)}`) : literal(value);
    if (written instanceof CelError) return written;
    entries.push([writtenKey, written]);
  }
  entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([key, value]) => `${key}:${value}`).join(", ")}}`;
}

function keyText(key: Value): string | CelError {
  if (typeof key === "string") return goQuote(key);
  if (typeof key === "boolean") return String(key);
  return integerIn(key, 10) ?? new CelError(`no formatting function for map key of type ${typeName(typeOf(key))}`);
}

/** As a CEL literal. */
function literal(value: Outcome): string | CelError {
  if (value instanceof CelError) return value;
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number") return doubleLiteral(value);
  if (value instanceof ListValue) return listText(value);
  if (value instanceof MapValue && !(value instanceof ObjectValue)) return mapText(value);
  const text = plainText(value);
  if (text === undefined) return new CelError(`no formatting function for ${typeName(typeOf(value))}`);
  if (text instanceof CelError || value instanceof TypeValue) return text;
  if (value instanceof Timestamp) return `timestamp(${goQuote(text)})`;
  if (value instanceof Duration) return `duration(${goQuote(text)})`;
  return value instanceof Uint8Array ? `b${goQuote(text)}` : text;
}

function doubleLiteral(value: number): string {
  if (Number.isNaN(value)) return '"NaN"';
  if (!Number.isFinite(value)) return value > 0 ? '"+Inf"' : '"-Inf"';
  return fixedDecimal(value, 6, { grouped: false });
}
