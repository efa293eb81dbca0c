/** Runs a component in the foreground: logs to standard error, stops on a signal. */
import { type Clock, createLogger, type Logger, realClock } from "#base";

export async function runUntilSignalled(
  notes: readonly string[],
  run: (environment: { readonly clock: Clock; readonly log: Logger }, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const clock = realClock();
  // The component must survive a closed log pipe.
  process.stderr.on("error", () => {});
  const log = createLogger({
    clock,
    format: process.stderr.isTTY ? "pretty" : "json",
    level: "info",
    write: (line) => process.stderr.write(line),
  });
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
