/** `k8ts recover`: the etcd of a cluster whose members are lost begins again with the member of this machine. */
import { createReadStream, existsSync } from "node:fs";
import { Command } from "commander";
import { type Clock, createLogger, type Logger, realClock } from "#base";
import { ClusterError, etcdTools, openDataDir } from "#cluster";
import { verifySnapshot } from "#store";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";

interface RecoverOptions extends DataDirOption {
  readonly fromSnapshot?: string;
  readonly forceNewCluster?: boolean;
}

export function recoverCommand(): Command {
  return new Command("recover")
    .description(
      "begin the etcd of a stopped cluster again with this machine's member, when its quorum is lost for good",
    )
    .option("--from-snapshot <file>", "a file written by `k8ts snapshot`; what was written after it is lost")
    .option("--force-new-cluster", "from the data of this machine's member; it may lack the last writes")
    .addOption(dataDirOption())
    .action(async ({ fromSnapshot: file, forceNewCluster: forces, ...options }: RecoverOptions) => {
      const dir = dataDirOf(options);
      const clock = realClock();
      if ((file === undefined) === (forces !== true))
        throw new ClusterError("Give --from-snapshot FILE or --force-new-cluster: from where the state comes.");
      if (file !== undefined && !existsSync(file)) throw new ClusterError(`${file} does not exist.`);
      const lock = await openDataDir(dir);
      try {
        const { forceNewCluster, recoverFromSnapshot } = await etcdTools();
        const stopped = { clock, log: warnings(clock) };
        const next = "Stop the old members on other machines, and join them again with empty data directories.";
        if (file === undefined) {
          const { keptIn } = await forceNewCluster(dir, stopped);
          process.stdout.write(`This machine's member is the only one now; its data of before: ${keptIn}. ${next}\n`);
          return;
        }
        await verifySnapshot(createReadStream(file));
        const { objects, revision } = await recoverFromSnapshot(dir, createReadStream(file), stopped);
        process.stdout.write(`Recovered ${objects} objects at revision ${revision} from ${file}. ${next}\n`);
      } finally {
        lock.release();
      }
    });
}

function warnings(clock: Clock): Logger {
  return createLogger({ clock, format: "pretty", level: "warn", write: (line) => process.stderr.write(line) });
}
