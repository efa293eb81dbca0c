/**
 * Structured logging: a sentence for people, fields for machines.
 *
 * 1. No value can make it throw. What `write` throws is the caller's.
 * 2. A record below the level, or above the verbosity, costs an empty call.
 * 3. One record is one call of `write`, ended by a newline. As JSON it is one line; the pretty form puts an error's
 *    stack on lines of its own, indented.
 * 4. The place of a call is looked up only for formats and patterns that need it.
 */

import type { Clock } from "../system/clock.ts";
import { type CallSite, callSite, fileOf } from "./call-site.ts";
import { klogLine, zapLine } from "./go-formats.ts";
import { jsonLine, type LogFields, type LogLevel, type LogRecord, loggerName, prettyLines } from "./log-format.ts";
import { type VerbosityPattern, verbosityFor } from "./verbosity.ts";

export interface Logger {
  /** As `verbose` at `DEBUG_VERBOSITY`. */
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Written if the verbosity is at least `v`. */
  verbose(v: number, message: string, fields?: LogFields): void;
  /** Whether `verbose(v, …)` would write, for records whose fields cost something. */
  enabled(v: number): boolean;
  /** A logger that adds these fields to each record; `component` names the source. */
  child(fields: LogFields): Logger;
}

/** The verbosity from which on records of level debug are written. */
export const DEBUG_VERBOSITY = 4;

export type LogFormat = "pretty" | "json" | "klog" | "zap";

export interface LoggerOptions {
  readonly write: (text: string, level: LogLevel) => void;
  /** `klog` and `zap`: the text and the JSON of programs that log with these Go libraries. */
  readonly format: LogFormat;
  readonly level: LogLevel;
  /** Default: that of the level. */
  readonly verbosity?: number | undefined;
  /** Other verbosities, by the logger's name or the file that logs. */
  readonly patterns?: readonly VerbosityPattern[] | undefined;
  readonly clock: Clock;
  /** Pretty only. Default: false. */
  readonly color?: boolean;
}

const ranks: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };
/** Frames between the caller of a logger and `callSite`: `writes` and the logger's method. */
const OWN_FRAMES = 2;

export function createLogger(options: LoggerOptions): Logger {
  const { write, format, level, clock, color = false, patterns = [] } = options;
  const general = options.verbosity ?? (level === "debug" ? DEBUG_VERBOSITY : 0);
  const needsSite = format === "klog" || format === "zap";
  const render = renderer(format, color);

  const withFields = (own: LogFields): Logger => {
    const named = verbosityFor(loggerName(own), patterns) ?? general;
    const writes = (each: LogLevel, v: number, message: string, fields: LogFields | undefined) => {
      const site = needsSite ? callSite(OWN_FRAMES) : undefined;
      write(render({ timeMs: clock.now(), level: each, v, message, fields: { ...own, ...fields } }, site), each);
    };
    const at = (each: "info" | "warn" | "error"): Logger[typeof each] => {
      if (ranks[each] < ranks[level]) return () => {};
      return (message, fields) => writes(each, 0, message, fields);
    };
    /** `frames`: those of this file above the caller. */
    const shows = (v: number, frames: number): boolean =>
      v <= named || (patterns.length > 0 && v <= (verbosityFor(fileOf(callSite(frames)), patterns) ?? named));
    const verbose: Logger["verbose"] = (v, message, fields) => {
      if (v <= named || (patterns.length > 0 && shows(v, OWN_FRAMES))) writes("debug", v, message, fields);
    };
    const debug: Logger["debug"] = (message, fields) => {
      if (DEBUG_VERBOSITY <= named || shows(DEBUG_VERBOSITY, OWN_FRAMES)) {
        writes("debug", DEBUG_VERBOSITY, message, fields);
      }
    };
    const silent = named < DEBUG_VERBOSITY && patterns.length === 0;
    return {
      debug: silent ? () => {} : debug,
      info: at("info"),
      warn: at("warn"),
      error: at("error"),
      verbose: named < 1 && patterns.length === 0 ? () => {} : verbose,
      enabled: (v) => shows(v, OWN_FRAMES),
      child: (fields) => withFields({ ...own, ...fields }),
    };
  };
  return withFields({});
}

function renderer(format: LogFormat, color: boolean): (record: LogRecord, site: CallSite | undefined) => string {
  switch (format) {
    case "json":
      return jsonLine;
    case "pretty":
      return (record) => prettyLines(record, color);
    case "klog":
      return klogLine;
    case "zap":
      return zapLine;
  }
}

export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  verbose: () => {},
  enabled: () => false,
  child: () => silentLogger,
};
