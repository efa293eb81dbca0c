/** The log of a serving thread: the first thread writes its records, so that lines of several threads do not mix. */
import { DEBUG_VERBOSITY, type LogFields, type Logger } from "#base";
import type { FromThread } from "./protocol.ts";

export function threadLog(send: (message: FromThread) => void, verbosity: number, own: LogFields = {}): Logger {
  const write = (level: "debug" | "info" | "warn" | "error", v: number, message: string, fields: LogFields = {}) => {
    const all = { ...own, ...fields };
    try {
      send({ type: "log", level, v, message, fields: all });
    } catch {
      // Something in it cannot be sent: its text can.
      const texts = Object.entries(all).map(([name, value]) => [name, String(value)]);
      send({ type: "log", level, v, message, fields: Object.fromEntries(texts) });
    }
  };
  const verbose: Logger["verbose"] = (v, message, fields) => {
    if (v <= verbosity) write("debug", v, message, fields);
  };
  return {
    debug: (message, fields) => verbose(DEBUG_VERBOSITY, message, fields),
    info: (message, fields) => write("info", 0, message, fields),
    warn: (message, fields) => write("warn", 0, message, fields),
    error: (message, fields) => write("error", 0, message, fields),
    verbose,
    enabled: (v) => v <= verbosity,
    child: (fields) => threadLog(send, verbosity, { ...own, ...fields }),
  };
}

const MOST_VERBOSE = 10;

/** The verbosity from which on a logger writes nothing. */
export function verbosityOf(log: Logger): number {
  let v = 0;
  while (v < MOST_VERBOSE && log.enabled(v + 1)) v++;
  return v;
}

export function writeRecord(log: Logger, { level, v, message, fields }: Extract<FromThread, { type: "log" }>): void {
  if (level === "debug") log.verbose(v, message, fields);
  else log[level](message, fields);
}
