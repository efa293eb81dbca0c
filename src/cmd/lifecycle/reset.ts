/** `k8ts reset`: stops the cluster, deletes its state, and removes its context from the user's kubeconfig. */
import { existsSync } from "node:fs";
import { Command } from "commander";
import { realClock } from "#base";
import { ClusterError, CONTEXT_NAME, endNodes, eraseDataDir, openDataDir, readMarker, readRunState } from "#cluster";
import { kubeconfigServer, removeFromKubeconfig, userKubeconfigPath } from "#pki";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/values.ts";
import { stopRunning } from "./down.ts";

const STOP_TIMEOUT_MS = 30_000;

export function resetCommand(): Command {
  return new Command("reset")
    .description("stop the cluster and delete all of its state")
    .addOption(dataDirOption())
    .option("--kubeconfig <file>", "kubeconfig to remove the context `k8ts` from (default: the user's)")
    .action(async (options: DataDirOption & { kubeconfig?: string }) => {
      const dir = dataDirOf(options);
      const clock = realClock();
      if (!existsSync(dir.path)) {
        process.stdout.write(`Nothing to delete: ${dir.path} does not exist.\n`);
        return;
      }
      if ((await readMarker(dir)) === undefined) {
        throw new ClusterError(`${dir.path} is not a k8ts data directory: nothing was deleted.`);
      }
      const merged = options.kubeconfig ?? (await readRunState(dir))?.mergedInto ?? userKubeconfigPath(process.env);
      const ownServer = await kubeconfigServer(dir.kubeconfig, CONTEXT_NAME);
      await stopRunning(dir, STOP_TIMEOUT_MS, clock);
      const lock = await openDataDir(dir);
      try {
        // The context may belong to the cluster of another data directory by now: then it stays.
        if (ownServer !== undefined && (await kubeconfigServer(merged, CONTEXT_NAME)) === ownServer) {
          await removeFromKubeconfig(merged, CONTEXT_NAME, { clock });
        }
        await endNodes(dir, clock);
        await eraseDataDir(dir);
      } finally {
        lock.release();
      }
      process.stdout.write(`Deleted the cluster in ${dir.path}.\n`);
    });
}
