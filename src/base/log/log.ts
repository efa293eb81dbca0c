/**
 * Structured logging: a sentence for people, fields for machines.
 *
 * 1. No value can make it throw. What `write` throws is the caller's.
 * 2. A record below the level costs an empty call.
 * 3. One record is one call of `write`, ended by a newline. As JSON it is one line; the pretty form puts an error's
 *    stack on lines of its own, indented.
 */

import type { Clock } from "../system/clock.ts";
import { jsonLine, type LogFields, type LogLevel, type LogRecord, prettyLines } from "./log-format.ts";

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds these fields to each record; `component` names the source. */
  child(fields: LogFields): Logger;
}

export interface LoggerOptions {
  readonly write: (text: string) => void;
  readonly format: "pretty" | "json";
  readonly level: LogLevel;
  readonly clock: Clock;
  /** Pretty only. Default: false. */
  readonly color?: boolean;
}

const ranks: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export function createLogger({ write, format, level, clock, color = false }: LoggerOptions): Logger {
  const render = format === "json" ? jsonLine : (record: LogRecord) => prettyLines(record, color);
  const withFields = (own: LogFields): Logger => {
    const at = (each: LogLevel): Logger[LogLevel] => {
      if (ranks[each] < ranks[level]) return () => {};
      return (message, fields) =>
        write(render({ timeMs: clock.now(), level: each, message, fields: { ...own, ...fields } }));
    };
    return {
      debug: at("debug"),
      info: at("info"),
      warn: at("warn"),
      error: at("error"),
      child: (fields) => withFields({ ...own, ...fields }),
    };
  };
  return withFields({});
}

export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
};
