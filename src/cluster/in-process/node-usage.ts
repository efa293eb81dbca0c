/**
 * The usage script of simulated nodes: a file that is followed while they run.
 *
 * 1. A changed file applies within seconds; its times still count from the start of the nodes. If it is invalid, the
 *    rules before stay in effect, and the error is logged.
 */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Clock, Logger, TaskGroup } from "#base";
import { parseUsageScript, scriptedUsage, type UsageSource } from "#kubelet";
import { ClusterError } from "../config/errors.ts";
import { followFile, readFlag } from "../config/flag-files.ts";

const FLAG = "--node-usage";

export async function nodeUsage(
  file: string,
  { background, clock, log }: { readonly background: TaskGroup; readonly clock: Clock; readonly log: Logger },
): Promise<UsageSource> {
  const read = (name: string) => readFileSync(resolve(dirname(file), name), "utf8");
  const text = await readFlag(FLAG, file);
  let rules = parsed(text, file, read);
  background.run("usage script of simulated nodes", (signal) =>
    followFile(file, {
      clock,
      signal,
      known: text,
      changed: (next) => {
        rules = parsed(next, file, read);
        log.info("the usage script of simulated nodes has changed", { file, rules: rules.length });
      },
      failed: (error) => log.error("the usage script of simulated nodes stays as it was", { file, error }),
    }),
  );
  return scriptedUsage(() => rules, clock.now());
}

function parsed(text: string, file: string, read: (name: string) => string) {
  try {
    return parseUsageScript(text, read);
  } catch (error) {
    throw new ClusterError(`${FLAG} ${file}: ${(error as Error).message}.`, { cause: error });
  }
}
