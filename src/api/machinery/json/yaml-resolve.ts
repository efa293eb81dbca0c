/**
 * What the text of a YAML scalar stands for, as Go's parser decides it: YAML 1.1, in which yes, no, on and off are
 * booleans and 0777 is octal, but 1:30 and dates are text.
 */
import { numberOf } from "./int64.ts";
import type { Json } from "./json.ts";
import { longTag } from "./yaml-parser.ts";
import { YamlSyntaxError } from "./yaml-source.ts";

type Resolved = { readonly type: "null" | "bool" | "int" | "float" | "str" | "merge"; readonly value: Json };

const words: ReadonlyMap<string, Resolved> = new Map(
  (
    [
      ["bool", true, ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"]],
      ["bool", false, ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"]],
      ["null", null, ["", "~", "null", "Null", "NULL"]],
      ["float", Number.NaN, [".nan", ".NaN", ".NAN"]],
      ["float", Number.POSITIVE_INFINITY, [".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"]],
      ["float", Number.NEGATIVE_INFINITY, ["-.inf", "-.Inf", "-.INF"]],
      ["merge", "<<", ["<<"]],
    ] as const
  ).flatMap(([type, value, texts]) => texts.map((text) => [text, { type, value }] as const)),
);
const longestWord = 5;

const integer = /^([-+]?)(?:0x([\da-f]+)|0b([01]+)|0o?([0-7]+)|(0|[1-9]\d*))$/i;
const float = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:e[-+]?\d+)?$/i;
/** As many digits as an unsigned integer of 64 bits may have, by base. */
const maxDigits: Readonly<Record<2 | 8 | 10 | 16, number>> = { 2: 64, 8: 22, 10: 20, 16: 16 };
const biggest = 2n ** 64n - 1n;
const smallest = -(2n ** 63n);

export function resolveScalar(text: string, tag: string): Json {
  const wanted = tag.startsWith(longTag) ? tag.slice(longTag.length) : undefined;
  if (tag === "") return resolve(text).value;
  switch (wanted) {
    case "binary":
      return binary(text);
    case "timestamp":
      if (!timestamp.test(text)) throw mismatch(resolve(text), text, wanted);
      return text;
    case "null":
    case "bool":
    case "int":
    case "float": {
      const found = resolve(text);
      if (found.type !== wanted && !(found.type === "int" && wanted === "float")) throw mismatch(found, text, wanted);
      return wanted === "float" ? Number(found.value) : found.value;
    }
    default:
      return text;
  }
}

function mismatch({ type }: Resolved, text: string, wanted: string): YamlSyntaxError {
  return new YamlSyntaxError(`yaml: cannot decode !!${type} \`${text}\` as a !!${wanted}`);
}

const timestamp =
  /^\d{4}-\d{1,2}-\d{1,2}(?:[Tt]\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)| \d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?)?$/;

function resolve(text: string): Resolved {
  const word = text.length <= longestWord ? words.get(text) : undefined;
  if (word !== undefined) return word;
  const first = text.charCodeAt(0);
  // + - . and digits.
  if (first !== 0x2b && !(first >= 0x2d && first <= 0x39 && first !== 0x2f)) return { type: "str", value: text };
  if (first === 0x2e) return floating(text) ?? { type: "str", value: text };
  const plain = text.includes("_") ? text.replaceAll("_", "") : text;
  return whole(plain) ?? floating(plain) ?? { type: "str", value: text };
}

function whole(text: string): Resolved | undefined {
  const match = integer.exec(text);
  if (match === null) return undefined;
  const [, sign, hex, binary, octal, decimal] = match;
  const base = hex !== undefined ? 16 : binary !== undefined ? 2 : octal !== undefined ? 8 : 10;
  const digits = (hex ?? binary ?? octal ?? decimal ?? "").replace(/^0+(?=.)/, "");
  if (digits.length > maxDigits[base]) return undefined;
  const size = BigInt(base === 10 ? digits : `${base === 16 ? "0x" : base === 2 ? "0b" : "0o"}${digits}`);
  const value = sign === "-" ? -size : size;
  // Go reads an unsigned one only without a sign.
  if (value < smallest || value > (sign === "" ? biggest : -smallest - 1n)) return undefined;
  return { type: "int", value: numberOf(value) };
}

function floating(text: string): Resolved | undefined {
  const value = float.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? { type: "float", value } : undefined;
}

function binary(text: string): string {
  try {
    const bytes = Uint8Array.from(atob(text.replace(/[\r\n]/g, "")), (char) => char.charCodeAt(0));
    return new TextDecoder().decode(bytes);
  } catch {
    throw new YamlSyntaxError("yaml: !!binary value contains invalid base64 data");
  }
}
