/** `k8ts down`: stops the cluster of a data directory and waits until all its resources are released. */
import { existsSync } from "node:fs";
import { Command, Option } from "commander";
import { type Clock, realClock } from "#base";
import { type DataDir, endNodes, openDataDir } from "#cluster";
import { wholeNumber } from "../options/values.ts";
import { clusterArgument, type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";
import { stopRunning } from "./stop-running.ts";
import { ownSystemd, removeUnit } from "./systemd.ts";

interface DownOptions extends DataDirOption {
  readonly timeout: number;
  readonly keepNodes?: boolean;
  readonly systemd?: boolean;
}

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
    .option("--systemd", "also remove the unit of `k8ts up --systemd`")
    .option("--keep-nodes", "keep real nodes and their containers running for the next `up`")
    .action(async (name: string | undefined, options: DownOptions) => {
      const dir = dataDirOf(options, name);
      const clock = realClock();
      // First: it would start the cluster again.
      if (options.systemd === true)
        process.stdout.write(
          removeUnit(dir, ownSystemd())
            .map((line) => `${line}\n`)
            .join(""),
        );
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
