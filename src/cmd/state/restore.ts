/** `k8ts restore FILE`: puts a snapshot into the embedded store of a stopped cluster. */
import { createReadStream, existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Command } from "commander";
import { type Clock, realClock } from "#base";
import { ClusterError, type DataDir, openDataDir, readStoreRecord } from "#cluster";
import { openStore, restoreStore } from "#store";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";

export function restoreCommand(): Command {
  return new Command("restore")
    .description("replace the state of a stopped cluster with a snapshot")
    .argument("<file>", "a file written by `k8ts snapshot`")
    .addOption(dataDirOption())
    .option("--force", "replace existing state; a copy of it is kept")
    .action(async (file: string, options: DataDirOption & { force?: boolean }) => {
      const dir = dataDirOf(options);
      const clock = realClock();
      if (!existsSync(file)) throw new ClusterError(`${file} does not exist.`);
      const lock = await openDataDir(dir);
      try {
        if ((await readStoreRecord(dir))?.kind === "etcd") {
          throw new ClusterError(
            `The state of this cluster is in etcd: \`k8ts recover --from-snapshot ${file}\` replaces it.`,
          );
        }
        if (existsSync(dir.store) && !options.force) {
          throw new ClusterError(
            `${dir.path} already has state. Give --force to replace it (a copy of the old state is kept), or choose another --data-dir.`,
          );
        }
        // The snapshot is unpacked and verified next to the old state before anything is replaced.
        const fresh = `${dir.store}.restored`;
        await rm(fresh, { recursive: true, force: true });
        const revision = await restoreStore(fresh, createReadStream(file), {
          clock,
          revisionAtLeast: await newestRevision(dir, clock),
        });
        if (existsSync(dir.store))
          await rename(dir.store, `${dir.store}.replaced-${new Date(clock.now()).toISOString()}`);
        await rename(fresh, dir.store);
        process.stdout.write(`Restored revision ${revision} from ${file}. \`k8ts up\` starts from it.\n`);
      } finally {
        lock.release();
      }
    });
}

/** The restored state starts above the old revision, so that clients never see revisions go back. */
async function newestRevision(dir: DataDir, clock: Clock): Promise<number> {
  if (!existsSync(dir.store)) return 0;
  try {
    const store = await openStore({ kind: "embedded", dir: dir.store, clock });
    return await store.revision().finally(() => store.close());
  } catch (error) {
    process.stderr.write(`k8ts: the old state cannot be read: ${(error as Error).message}\n`);
    return 0;
  }
}
