/** Runs the machine's `ip`, in a network namespace or in this process's own. */
import { run } from "./command.ts";

/** `namespace`: its name. Default: this process's. Returns what `ip` prints. */
export async function ip(args: readonly string[], namespace?: string): Promise<string> {
  return run("ip", namespace === undefined ? args : ["-n", namespace, ...args]);
}

/** Runs the lines in order, in one process; stops at the first failure. */
export async function ipAll(lines: readonly string[], namespace?: string): Promise<void> {
  const args = [...(namespace === undefined ? [] : ["-n", namespace]), "-batch", "-"];
  await run("ip", args, { input: `${lines.join("\n")}\n` });
}
