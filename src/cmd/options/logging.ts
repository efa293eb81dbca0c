/**
 * The logging flags of Kubernetes' components.
 *
 * 1. Without --logging-format the log stays as it is without flags: pretty on a terminal, JSON of our own elsewhere.
 * 2. Wrong values are refused in the words of Kubernetes.
 * 3. What is alpha there needs the feature gate LoggingAlphaOptions here, too.
 */

import { Option } from "commander";
import { durationMs, field, goQuote, parseQuantity, scaledValue } from "#api";
import type { LogFormat, VerbosityPattern } from "#base";
import { table } from "#base";
import { ClusterError } from "#cluster";

export interface LoggingFlagOptions {
  readonly v?: string;
  readonly vmodule?: string;
  readonly loggingFormat?: string;
  readonly logFlushFrequency?: string;
  readonly logJsonSplitStream?: string;
  readonly logJsonInfoBufferSize?: string;
  readonly logTextSplitStream?: string;
  readonly logTextInfoBufferSize?: string;
  /** Only whether LoggingAlphaOptions is on matters here. */
  readonly featureGates?: string;
}

export interface LoggingConfig {
  /** Undefined: as without flags. */
  readonly format?: LogFormat | undefined;
  readonly verbosity: number;
  readonly patterns: readonly VerbosityPattern[];
  readonly flushMs: number;
  /** Errors go to standard error, everything else to standard output, where so many bytes are collected. */
  readonly split?: { readonly bufferBytes: number } | undefined;
}

const FORMATS: Readonly<Record<string, LogFormat>> = table({ text: "klog", json: "zap" });
const FLUSH_MS = 5_000;
const MAX_VERBOSITY = 2 ** 31 - 1;
const MAX_BUFFER_BYTES = 2 ** 31;

export function loggingOptions(): readonly Option[] {
  const alpha = "alpha, needs the feature gate LoggingAlphaOptions";
  return [
    new Option("-v, --v <level>", "verbosity of the log: requests from 3 on, details of components from 4 on"),
    new Option(
      "--vmodule <pattern=N,…>",
      "verbosity of single loggers or source files, by name; only with --logging-format=text or none",
    ),
    new Option("--logging-format <format>", "text or json, as Kubernetes' components write them"),
    new Option("--log-flush-frequency <duration>", "how long buffered records may wait (default: 5s)"),
    new Option("--log-json-split-stream [bool]", `json: errors to stderr, all else to stdout (${alpha})`),
    new Option("--log-json-info-buffer-size <bytes>", `json: buffer of stdout, with split streams (${alpha})`),
    new Option("--log-text-split-stream [bool]", `text: errors to stderr, all else to stdout (${alpha})`),
    new Option("--log-text-info-buffer-size <bytes>", `text: buffer of stdout, with split streams (${alpha})`),
  ];
}

/** Throws ClusterError for wrong values. */
export function loggingFrom(options: LoggingFlagOptions): LoggingConfig {
  const { loggingFormat } = options;
  const verbosity = level(options.v ?? "0", '"-v, --v"', options.v ?? "");
  const patterns = patternsOf(options.vmodule ?? "");
  const flushMs = flushOf(options.logFlushFrequency);
  const json = streamOf(options.logJsonSplitStream, options.logJsonInfoBufferSize, "json");
  const text = streamOf(options.logTextSplitStream, options.logTextInfoBufferSize, "text");
  const errors: string[] = [];
  if (loggingFormat !== undefined && !Object.hasOwn(FORMATS, loggingFormat)) {
    errors.push(field.fieldErrorText(field.invalid("format", loggingFormat, "Unsupported log format")));
  }
  if (patterns.length > 0 && loggingFormat !== undefined && loggingFormat !== "text") {
    errors.push(field.fieldErrorText(field.forbidden("vmodule", "Only supported for text log format")));
  }
  if (!hasAlphaOptions(options.featureGates)) {
    const disabled = "Feature LoggingAlphaOptions is disabled";
    for (const [name, { split, bufferBytes }] of [["text", text] as const, ["json", json] as const]) {
      const at = `options.${name}`;
      if (split) errors.push(field.fieldErrorText(field.forbidden(`${at}.splitStream`, disabled)));
      if (bufferBytes !== 0) errors.push(field.fieldErrorText(field.forbidden(`${at}.infoBufferSize`, disabled)));
    }
  }
  if (errors.length > 0) throw new ClusterError(field.aggregate(errors));
  const { split, bufferBytes } = loggingFormat === "json" ? json : text;
  return {
    format: loggingFormat === undefined ? undefined : FORMATS[loggingFormat],
    verbosity,
    patterns,
    flushMs,
    // Our own formats have no streams to split: the flags speak of text and json.
    ...(split && loggingFormat !== undefined && { split: { bufferBytes } }),
  };
}

function wrongArgument(value: string, flag: string, why: string): ClusterError {
  return new ClusterError(`invalid argument ${goQuote(value)} for ${flag} flag: ${why}`);
}

/** Commander hands on the sign of `-v=4`. */
function level(given: string, flag: string, shown: string): number {
  const text = given.replace(/^=/, "");
  const fault = numberFault(text);
  if (fault !== undefined) throw wrongArgument(shown.replace(/^=/, ""), flag, fault);
  return Number(text);
}

function numberFault(text: string): string | undefined {
  const about = `strconv.ParseUint: parsing ${goQuote(text)}`;
  if (!/^\d+$/.test(text)) return `${about}: invalid syntax`;
  return Number(text) > MAX_VERBOSITY ? `${about}: value out of range` : undefined;
}

function patternsOf(value: string): readonly VerbosityPattern[] {
  return value
    .split(",")
    .filter((part) => part !== "")
    .map((part) => {
      const wrong = (why: string) => wrongArgument(value, '"--vmodule"', why);
      const [pattern = "", number = "", ...more] = part.split("=");
      if (pattern === "" || number === "" || more.length > 0) {
        throw wrong(`${goQuote(part)} does not have the pattern=N format`);
      }
      const fault = numberFault(number);
      if (fault !== undefined) throw wrong(`parsing verbosity in ${goQuote(part)}: ${fault}`);
      return { pattern, verbosity: Number(number) };
    });
}

function flushOf(value: string | undefined): number {
  if (value === undefined) return FLUSH_MS;
  try {
    return Math.max(durationMs(value), 0) || FLUSH_MS;
  } catch {
    throw wrongArgument(value, '"--log-flush-frequency"', `time: invalid duration ${goQuote(value)}`);
  }
}

function streamOf(split: string | true | undefined, size: string | undefined, format: string) {
  return { split: isSplit(split, format), bufferBytes: bytesOf(size ?? "0", `"--log-${format}-info-buffer-size"`) };
}

function isSplit(value: string | true | undefined, format: string): boolean {
  if (value === undefined || value === true) return value === true;
  if (["1", "t", "T", "true", "TRUE", "True"].includes(value)) return true;
  if (["0", "f", "F", "false", "FALSE", "False"].includes(value)) return false;
  const why = `strconv.ParseBool: parsing ${goQuote(value)}: invalid syntax`;
  throw wrongArgument(value, `"--log-${format}-split-stream"`, why);
}

function bytesOf(value: string, flag: string): number {
  try {
    return Math.min(Math.max(Number(scaledValue(parseQuantity(value), 0)), 0), MAX_BUFFER_BYTES);
  } catch (error) {
    throw wrongArgument(value, flag, error instanceof Error ? error.message : String(error));
  }
}

/** `LoggingAlphaOptions=true,…`, or gates that were read already. */
/** Wrong gates are reported by those who read all of them. */
function hasAlphaOptions(gates = ""): boolean {
  const given = new Map(
    gates.split(",").map((pair) => pair.split("=", 2).map((part) => part.trim()) as [string, string]),
  );
  return (given.get("LoggingAlphaOptions") ?? given.get("AllAlpha"))?.toLowerCase() === "true";
}
