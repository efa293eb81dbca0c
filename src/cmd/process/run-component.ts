/** Runs a component in the foreground: logs to standard error, stops on a signal. */
import { type Clock, type Logger, realClock } from "#base";
import type { LoggingConfig } from "../options/logging.ts";
import { componentLog } from "./component-log.ts";

export interface ComponentEnvironment {
  readonly clock: Clock;
  readonly log: Logger;
}

export async function runUntilSignalled(
  notes: readonly string[],
  run: (environment: ComponentEnvironment, signal: AbortSignal) => Promise<void>,
  logging?: LoggingConfig,
): Promise<void> {
  const clock = realClock();
  const log = componentLog(clock, logging);
  for (const note of notes) log.warn(note);
  const stopping = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      // A second signal always ends the process, even if stopping hangs.
      if (stopping.signal.aborted) process.exit(1);
      log.info("stopping", { signal: name });
      stopping.abort(new Error(`it was stopped by ${name}`));
    });
  }
  await run({ clock, log }, stopping.signal);
  log.info("stopped");
}
