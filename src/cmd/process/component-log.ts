/**
 * The log of a component's process, by its flags.
 *
 * 1. The process survives a closed pipe behind its log.
 * 2. Buffered records are written when the process ends, whichever way.
 */
import { BufferedWriter, type Clock, createLogger, type Logger, type LogLevel } from "#base";
import type { LoggingConfig } from "../options/logging.ts";
import { surviveClosedPipes } from "./closed-pipes.ts";

export function componentLog(clock: Clock, config?: LoggingConfig): Logger {
  surviveClosedPipes();
  return createLogger({
    clock,
    format: config?.format ?? (process.stderr.isTTY ? "pretty" : "json"),
    level: "info",
    verbosity: config?.verbosity,
    patterns: config?.patterns,
    write: config?.split === undefined ? (line) => process.stderr.write(line) : split(clock, config, config.split),
  });
}

function split(
  clock: Clock,
  { flushMs }: LoggingConfig,
  { bufferBytes }: NonNullable<LoggingConfig["split"]>,
): (line: string, level: LogLevel) => void {
  const write = (text: string) => process.stdout.write(text);
  if (bufferBytes === 0) return (line, level) => (level === "error" ? process.stderr.write(line) : write(line));
  const buffer = new BufferedWriter({ write, bytes: bufferBytes, everyMs: flushMs, clock });
  process.on("exit", () => buffer.flush());
  return (line, level) => {
    if (level === "error") process.stderr.write(line);
    else buffer.write(line);
  };
}
