/** Decoding of scalar types, and the errors for values that do not fit. */

import { goKind } from "../json/go-text.ts";
import { isInt64, isNumeric } from "../json/int64.ts";
import type { Json } from "../json/json.ts";
import { spellingOf } from "../json/spelled-number.ts";
import { jsonKind } from "../json/unmarshal-text.ts";
import { writeJson } from "../json/write-json.ts";
import { base64Fault, decodeBase64, encodeBase64, isCanonicalBase64 } from "../scalars/base64.ts";
import { DurationError, formatDuration, parseDuration } from "../scalars/duration.ts";
import { canonicalQuantity, QuantityError } from "../scalars/quantity.ts";
import { canonicalMicroTime, canonicalTime, TimeError } from "../scalars/time.ts";
import { goTypeName } from "./go-types.ts";
import type { ScalarSchema } from "./schema.ts";

export const FAILED = Symbol("failed");

export type Decoder = (value: Json, context: DecodeContext) => Json | typeof FAILED;

export interface DecodeContext {
  readonly from: "json" | "maps";
  readonly unknown: string[];
  failure: Failure | undefined;
}

export interface Failure {
  readonly words: string;
  /** Absent where the words say everything. */
  readonly goType: string | undefined;
  /** The innermost struct, once it is known; "" is none. */
  struct: string | undefined;
  /** Field names, innermost first. */
  readonly path: string[];
}

/** What Go's reflection calls a type, whatever its name. */
type GoKind = "struct" | "map" | "slice" | "string" | "bool" | "int32" | "int64" | "float64";

/** A value of the wrong kind. */
export function mismatch(
  context: DecodeContext,
  value: Json,
  goType: string,
  kind: GoKind,
  words: string = jsonKind(value),
): typeof FAILED {
  const failure =
    context.from === "json" ? { words, goType } : { words: mapWords(value, goType, kind), goType: undefined };
  context.failure = { ...failure, struct: undefined, path: [] };
  return FAILED;
}

function mapWords(value: Json, goType: string, kind: GoKind): string {
  if (kind === "struct") return `cannot restore struct from: ${goKind(value)}`;
  if (kind === "map" || kind === "slice") return `cannot restore ${kind} from ${goKind(value)}`;
  const convertible = isNumeric(value) && kind !== "bool" && (kind !== "string" || isInt64(value));
  return convertible ? `cannot convert ${goKind(value)} to ${goType}` : `unrecognized type: ${kind}`;
}

export function refused(context: DecodeContext, words: string): typeof FAILED {
  context.failure = { words, goType: undefined, struct: undefined, path: [] };
  return FAILED;
}

export function compileScalar(schema: ScalarSchema): Decoder {
  const goType = goTypeName(schema);
  switch (schema.type) {
    case "string":
      return (value, context) => (typeof value === "string" ? value : mismatch(context, value, goType, "string"));
    case "boolean":
      return (value, context) => (typeof value === "boolean" ? value : mismatch(context, value, goType, "bool"));
    case "int32":
      return (value, context) =>
        typeof value === "number" && (value | 0) === value ? value : notAnInteger(context, value, goType, "int32");
    case "int64":
      return (value, context) => (isInt64(value) ? value : notAnInteger(context, value, goType, "int64"));
    case "double":
      return (value, context) => decodeDouble(value) ?? mismatch(context, value, goType, "float64");
    case "bytes":
      return decodeBytes;
    case "quantity":
      return decodeQuantity;
    case "intOrString":
      return (value, context) =>
        typeof value === "string" || (typeof value === "number" && (value | 0) === value)
          ? value
          : notAnInteger(context, value, "int32", "int32");
    case "time":
      return selfReading(canonicalTime, TimeError);
    case "microTime":
      return selfReading(canonicalMicroTime, TimeError);
    case "duration":
      return selfReading((text) => formatDuration(parseDuration(text)), DurationError);
  }
}

function notAnInteger(context: DecodeContext, value: Json, goType: string, kind: "int32" | "int64"): typeof FAILED {
  return mismatch(context, value, goType, kind, numberWords(value) ?? jsonKind(value));
}

function numberWords(value: Json): string | undefined {
  const text = isNumeric(value) ? value : spellingOf(value);
  return text === undefined ? undefined : `number ${text}`;
}

function decodeDouble(value: Json): Json | undefined {
  return isNumeric(value) ? Number(value) : spellingOf(value);
}

function decodeBytes(value: Json, context: DecodeContext): Json | typeof FAILED {
  if (typeof value !== "string") return mismatch(context, value, "[]uint8", "slice");
  if (isCanonicalBase64(value)) return value;
  const fault = base64Fault(value);
  if (fault === undefined) return encodeBase64(decodeBase64(value));
  const words = `illegal base64 data at input byte ${fault}`;
  return refused(context, context.from === "json" ? words : `error decoding from json: ${words}`);
}

function decodeQuantity(value: Json, context: DecodeContext): Json | typeof FAILED {
  const text =
    typeof value === "string"
      ? value.trim()
      : (spellingOf(value) ?? (isNumeric(value) ? String(value) : writeJson(value)));
  return attempt(context, text, canonicalQuantity, QuantityError);
}

/** Types that parse their own text. */
function selfReading(read: (text: string) => Json, expected: new (...args: never[]) => Error): Decoder {
  return (value, context) => {
    if (typeof value === "string") return attempt(context, value, read, expected);
    context.failure = {
      words: jsonKind(value),
      goType: "string",
      struct: context.from === "json" ? undefined : "",
      path: [],
    };
    return FAILED;
  };
}

function attempt(
  context: DecodeContext,
  text: string,
  read: (text: string) => Json,
  expected: new (...args: never[]) => Error,
) {
  try {
    return read(text);
  } catch (error) {
    if (error instanceof expected) return refused(context, error.message);
    throw error;
  }
}
