/** How Go prints values in messages: messages of Kubernetes are made the same way. */
import { table } from "#base";
import { isObject, type Json } from "./json.ts";
import { writeJson } from "./write-json.ts";

const plain = /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/;
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const named: Readonly<Record<string, string>> = table({
  '"': '\\"',
  "\\": "\\\\",
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
});

/** As `%q`. */
export function goQuote(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  let quoted = "";
  for (const char of text) quoted += named[char] ?? (printable.test(char) ? char : escaped(char));
  return `"${quoted}"`;
}

function escaped(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, "0")}`;
  return `\\U${code.toString(16).padStart(8, "0")}`;
}

const unsafe = /[<>&\u2028\u2029]/g;

/** As `json.Marshal`, which escapes HTML. */
export function goJson(value: Json): string {
  return writeJson(value).replace(unsafe, (char) => escaped(char).replace("\\x", "\\u00"));
}

/** As `%v` of a value decoded without a type. */
export function goValue(value: Json | undefined): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(goValue).join(" ")}]`;
  if (isObject(value)) {
    const entries = Object.keys(value).sort();
    return `map[${entries.map((key) => `${key}:${goValue(value[key])}`).join(" ")}]`;
  }
  return typeof value === "number" ? goNumber(value) : String(value);
}

/** As `%s`, which Go means for strings. */
export function goString(value: Json): string {
  if (value === null) return "%!s(<nil>)";
  if (Array.isArray(value)) return `[${value.map(goString).join(" ")}]`;
  if (isObject(value)) {
    const keys = Object.keys(value).sort();
    return `map[${keys.map((key) => `${key}:${goString(value[key] ?? null)}`).join(" ")}]`;
  }
  return typeof value === "string" ? value : `%!s(${goKind(value)}=${goValue(value)})`;
}

/** As `%v` of a number that was decoded without a type: an int64 where it is one, otherwise a float64. */
export function goNumber(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : goFloat(value);
}

/** As `%v` of a float64: with an exponent, of at least two digits, below 1e-4 and from 1e6 on. */
export function goFloat(value: number): string {
  const size = Math.abs(value);
  if (value === 0 || (size >= 1e-4 && size < 1e6)) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

/** Go's name for the kind of a value decoded without a type. */
export function goKind(value: Json): "map" | "slice" | "string" | "bool" | "float64" | "int64" | "nil" {
  if (value === null) return "nil";
  if (Array.isArray(value)) return "slice";
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "int64";
  if (typeof value === "number") return Number.isSafeInteger(value) ? "int64" : "float64";
  return "map";
}
