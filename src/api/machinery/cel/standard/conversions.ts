/** Conversions: int, uint, double, string, bytes, bool, timestamp, duration, type. */
import { parseDuration } from "../../scalars/duration.ts";
import { TimeError } from "../../scalars/time.ts";
import { costs, range, scaleRange, unlimited } from "../functions/cost.ts";
import { type Estimate, type FunctionDeclaration, fn, global, type RunCost } from "../functions/function.ts";
import { timestampOf } from "../values/json-value.ts";
import {
  checkedInt,
  checkedTimestamp,
  checkedUint,
  formatDouble,
  intFromDouble,
  plain,
  uintFromDouble,
} from "../values/numbers.ts";
import type { Type } from "../values/type.ts";
import * as types from "../values/type.ts";
import {
  CelError,
  codePoints,
  Duration,
  type Outcome,
  type Timestamp,
  TypeValue,
  typeOf,
  type Uint,
  type Value,
} from "../values/value.ts";

const { bool, bytes, double, duration, int, string, timestamp, uint } = types;

function failed(from: Type, to: Type): CelError {
  return new CelError(`type conversion error from '${types.typeName(from)}' to '${types.typeName(to)}'`);
}

const same = (value: Value): Value => value;
const integer = /^[+-]?\d+$/;
const unsigned = /^\d+$/;
const decimal = /^[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const specials: ReadonlyMap<string, number> = new Map([
  ["nan", Number.NaN],
  ["inf", Number.POSITIVE_INFINITY],
  ["+inf", Number.POSITIVE_INFINITY],
  ["-inf", Number.NEGATIVE_INFINITY],
  ["infinity", Number.POSITIVE_INFINITY],
  ["+infinity", Number.POSITIVE_INFINITY],
  ["-infinity", Number.NEGATIVE_INFINITY],
]);
const truths: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "T", "TRUE", "true", "True"].map((text) => [text, true] as const),
  ...["0", "f", "F", "FALSE", "false", "False"].map((text) => [text, false] as const),
]);

function intFromText(text: string): Outcome {
  if (!integer.test(text)) return failed(string, int);
  const value = checkedInt(BigInt(text.startsWith("+") ? text.slice(1) : text));
  return value instanceof CelError ? failed(string, int) : value;
}

function uintFromText(text: string): Outcome {
  if (!unsigned.test(text)) return failed(string, uint);
  const value = checkedUint(BigInt(text));
  return value instanceof CelError ? failed(string, uint) : value;
}

function doubleFromText(text: string): Outcome {
  const special = specials.get(text.toLowerCase());
  if (special !== undefined) return special;
  const value = decimal.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : failed(string, double);
}

function textFromBytes(value: Uint8Array): Outcome {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return new CelError("invalid UTF-8 in bytes, cannot convert to string");
  }
}

/** Seconds with as many decimals as needed. */
function textFromDuration({ nanos }: Duration): string {
  return `${plain(Number(nanos) / 1e9)}s`;
}

/** In its own time zone. */
export function textFromTimestamp({ nanos: utc, offsetMinutes }: Timestamp): string {
  const nanos = utc + BigInt(offsetMinutes) * 60_000_000_000n;
  const rest = ((nanos % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  const seconds = Number((nanos - rest) / 1_000_000_000n);
  const fraction = rest === 0n ? "" : `.${`${rest}`.padStart(9, "0").replace(/0+$/, "")}`;
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}${fraction}${zoneText(offsetMinutes)}`;
}

function zoneText(offsetMinutes: number): string {
  if (offsetMinutes === 0) return "Z";
  const two = (value: number): string => `${Math.floor(value)}`.padStart(2, "0");
  const minutes = Math.abs(offsetMinutes);
  return `${offsetMinutes < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
}

/** Undefined if it is not a duration. */
export function durationFromText(text: string): Duration | undefined {
  try {
    return new Duration(parseDuration(text));
  } catch {
    // The only error is that it is not a duration; the caller has its own message.
    return undefined;
  }
}

export function timestampFromText(text: string): Outcome | undefined {
  try {
    const { nanos, offsetMinutes } = timestampOf(text);
    return checkedTimestamp(nanos, offsetMinutes);
  } catch (error) {
    if (!(error instanceof TimeError)) throw error;
    return undefined;
  }
}

const walkCost: RunCost = ([value]: readonly Value[]) =>
  Math.ceil(
    (typeof value === "string" ? codePoints(value) : value instanceof Uint8Array ? value.length : 1) *
      costs.stringTraversal,
  );
/** A code point takes up to four bytes. */
const toBytes: Estimate = ([text]) => {
  const size = text?.size ?? range(0, unlimited);
  return {
    cost: scaleRange(size, costs.stringTraversal),
    size: { min: size.min, max: Math.min(size.max * 4, unlimited) },
  };
};
const fromBytes: Estimate = ([value]) => {
  const size = value?.size ?? range(0, unlimited);
  return { cost: scaleRange(size, costs.stringTraversal), size: { min: Math.floor(size.min / 4), max: size.max } };
};

export const conversions: readonly FunctionDeclaration[] = [
  fn(
    "bool",
    global("bool_to_bool", [bool], bool, same),
    global("string_to_bool", [string], bool, (text: string) => truths.get(text) ?? failed(string, bool)),
  ),
  fn(
    "bytes",
    global("bytes_to_bytes", [bytes], bytes, same),
    global("string_to_bytes", [string], bytes, (text: string) => new TextEncoder().encode(text), {
      cost: walkCost,
      estimate: toBytes,
    }),
  ),
  fn(
    "double",
    global("double_to_double", [double], double, same),
    global("int64_to_double", [int], double, (value: bigint) => Number(value)),
    global("string_to_double", [string], double, doubleFromText),
    global("uint64_to_double", [uint], double, ({ value }: Uint) => Number(value)),
  ),
  fn(
    "duration",
    global("duration_to_duration", [duration], duration, same),
    global("int64_to_duration", [int], duration, (nanos: bigint) => new Duration(nanos)),
    global(
      "string_to_duration",
      [string],
      duration,
      (text: string) => durationFromText(text) ?? failed(string, duration),
    ),
  ),
  fn(
    "int",
    global("int64_to_int64", [int], int, same),
    global("double_to_int64", [double], int, intFromDouble),
    global("duration_to_int64", [duration], int, ({ nanos }: Duration) => nanos),
    global("string_to_int64", [string], int, intFromText),
    global("timestamp_to_int64", [timestamp], int, ({ nanos }: Timestamp) => {
      const seconds = nanos / 1_000_000_000n;
      return nanos % 1_000_000_000n < 0n ? seconds - 1n : seconds;
    }),
    global("uint64_to_int64", [uint], int, ({ value }: Uint) => checkedInt(value)),
  ),
  fn(
    "string",
    global("string_to_string", [string], string, same),
    global("bool_to_string", [bool], string, (value: boolean) => `${value}`),
    global("bytes_to_string", [bytes], string, textFromBytes, { cost: walkCost, estimate: fromBytes }),
    global("double_to_string", [double], string, formatDouble),
    global("duration_to_string", [duration], string, textFromDuration),
    global("int64_to_string", [int], string, (value: bigint) => `${value}`),
    global("timestamp_to_string", [timestamp], string, textFromTimestamp),
    global("uint64_to_string", [uint], string, ({ value }: Uint) => `${value}`),
  ),
  fn(
    "timestamp",
    global("timestamp_to_timestamp", [timestamp], timestamp, same),
    global("int64_to_timestamp", [int], timestamp, (seconds: bigint) => checkedTimestamp(seconds * 1_000_000_000n)),
    global(
      "string_to_timestamp",
      [string],
      timestamp,
      (text: string) => timestampFromText(text) ?? failed(string, timestamp),
    ),
  ),
  fn(
    "uint",
    global("uint64_to_uint64", [uint], uint, same),
    global("double_to_uint64", [double], uint, uintFromDouble),
    global("int64_to_uint64", [int], uint, checkedUint),
    global("string_to_uint64", [string], uint, uintFromText),
  ),
  fn(
    "type",
    global(
      "type",
      [types.parameter("A")],
      types.meta(types.parameter("A")),
      (value: Value) => new TypeValue(typeOf(value)),
    ),
  ),
];

/** Calls of these with a constant are computed at compile time. */
export const conversionNames: ReadonlySet<string> = new Set([
  "dyn",
  ...conversions.map(({ name }) => name).filter((name) => name !== "type"),
]);
