/**
 * `k8ts reset`: stops the cluster, deletes its state, and removes its context from the user's kubeconfig.
 *
 * 1. What is mounted is unmounted before anything is deleted, and the marker of the directory goes last: a reset that
 *    was killed can be repeated.
 */
import { existsSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { Command } from "commander";
import { realClock } from "#base";
import {
  ClusterError,
  type DataDir,
  endNodes,
  eraseDataDir,
  homeDir,
  openDataDir,
  readLastStart,
  readMarker,
  readRunState,
  removeContext,
} from "#cluster";
import { userKubeconfigPath } from "#pki";
import { clusterArgument, type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";
import { stopRunning } from "./stop-running.ts";

const STOP_TIMEOUT_MS = 30_000;

interface ResetOptions extends DataDirOption {
  readonly kubeconfig?: string;
  readonly yes?: boolean;
}

export function resetCommand(): Command {
  return new Command("reset")
    .description("stop the cluster and delete all of its state")
    .addArgument(clusterArgument())
    .addOption(dataDirOption())
    .option("--kubeconfig <file>", "kubeconfig to remove the cluster's context from (default: the one of `up`)")
    .option("-y, --yes", "do not ask; without a terminal nothing is asked")
    .action(async (name: string | undefined, options: ResetOptions) => {
      const dir = dataDirOf(options, name);
      const clock = realClock();
      if (!existsSync(dir.path)) {
        process.stdout.write(`Nothing to delete: ${dir.path} does not exist.\n`);
        return;
      }
      if ((await readMarker(dir)) === undefined) {
        throw new ClusterError(`${dir.path} is not a k8ts data directory: nothing was deleted.`);
      }
      if (options.yes !== true && !(await agrees(dir))) {
        process.stdout.write("Nothing was deleted.\n");
        return;
      }
      const merged =
        options.kubeconfig ??
        (await readRunState(dir))?.mergedInto ??
        (await readLastStart(dir))?.mergeInto ??
        userKubeconfigPath(process.env);
      await stopRunning(dir, STOP_TIMEOUT_MS, clock);
      const lock = await openDataDir(dir);
      try {
        await removeContext(dir, merged, clock);
        await endNodes(dir, clock);
        await eraseDataDir(dir);
      } finally {
        lock.release();
      }
      // The last cluster of the home directory takes it along.
      if (dir.name !== undefined) await rmdir(homeDir(process.env)).catch(() => {}); // others are there, or it is gone
      process.stdout.write(`Deleted the cluster in ${dir.path}.\n`);
    });
}

/** Scripts that have no terminal are not asked. */
async function agrees({ path }: DataDir): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return true;
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test(
      (await lines.question(`Delete the cluster in ${path} and all of its state? [y/N] `)).trim(),
    );
  } finally {
    lines.close();
  }
}
