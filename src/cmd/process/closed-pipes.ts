/**
 * What happens when the reader of a pipe leaves, as in `k8ts flow | head`.
 *
 * 1. A command ends quietly: nobody reads the rest.
 * 2. A process that others rely on, such as a cluster, goes on: it calls `surviveClosedPipes`.
 */

export function leaveWithTheReader(): void {
  process.stdout.on("error", leave);
  // Whoever does not read errors is not told of one.
  process.stderr.on("error", () => {});
}

export function surviveClosedPipes(): void {
  process.stdout.off("error", leave);
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}

function leave(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit();
  process.stderr.write(`k8ts: the output could not be written: ${error.message}.\n`);
  process.exit(1);
}
