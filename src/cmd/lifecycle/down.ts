/** `k8ts down`: stops the cluster of a data directory and waits until all its resources are released. */
import { existsSync } from "node:fs";
import { Command, Option } from "commander";
import { type Clock, realClock } from "#base";
import { ClusterError, type DataDir, endNodes, findRunning, isInUse, openDataDir } from "#cluster";
import { wholeNumber } from "../options/values.ts";
import { clusterArgument, type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";

const POLL_MS = 20;

export function downCommand(): Command {
  return new Command("down")
    .description("stop the cluster and keep its state")
    .addArgument(clusterArgument())
    .addOption(dataDirOption())
    .addOption(
      new Option("--timeout <seconds>", "how long to wait for the cluster to stop")
        .argParser(wholeNumber(1, 3600))
        .default(30),
    )
    .option("--keep-nodes", "keep real nodes and their containers running for the next `up`")
    .action(async (name: string | undefined, options: DataDirOption & { timeout: number; keepNodes?: boolean }) => {
      const dir = dataDirOf(options, name);
      const clock = realClock();
      const stopped = await stopRunning(dir, options.timeout * 1000, clock);
      if (!options.keepNodes) await endNodesOf(dir, clock);
      process.stdout.write(
        stopped ? `Stopped. Its state is kept in ${dir.path}.\n` : `No cluster is running in ${dir.path}.\n`,
      );
    });
}

/** Including nodes left behind by a crash. */
async function endNodesOf(dir: DataDir, clock: Clock): Promise<void> {
  if (!existsSync(dir.nodes)) return;
  const lock = await openDataDir(dir);
  try {
    await endNodes(dir, clock);
  } finally {
    lock.release();
  }
}

/** False if none was running. */
export async function stopRunning(dir: DataDir, timeoutMs: number, clock: Clock): Promise<boolean> {
  const deadline = clock.monotonic() + timeoutMs;
  let signalled: number | undefined;
  for (;;) {
    const found = await findRunning(dir);
    if (!found.running) return signalled !== undefined;
    // Without a state it is still starting, or already stopping: try again.
    if (found.state !== undefined && signalled === undefined) {
      signalled = found.state.pid;
      terminate(signalled);
    }
    while (signalled !== undefined && isInUse(dir) && clock.monotonic() < deadline) await clock.sleep(POLL_MS);
    if (clock.monotonic() >= deadline) {
      const who = signalled === undefined ? "The cluster" : `Process ${signalled}`;
      throw new ClusterError(
        `${who} did not stop within ${timeoutMs / 1000} s. Look at ${dir.log}, then kill it with kill -9: no acknowledged write is lost.`,
      );
    }
    await clock.sleep(POLL_MS);
  }
}

function terminate(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return; // it has just exited
    throw new ClusterError(`Cannot stop process ${pid}: ${(error as Error).message}.`, { cause: error });
  }
}
