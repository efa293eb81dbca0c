/** `k8ts snapshot FILE`: the store at one revision, from a running cluster or the data directory of a stopped one. */
import { createWriteStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { Command } from "commander";
import { realClock } from "#base";
import { ClusterError, type DataDir, etcdTools, findRunning, openDataDir } from "#cluster";
import { writeSnapshot } from "#store";
import { askServer, bodyText } from "../inspect/ask-server.ts";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";

export function snapshotCommand(): Command {
  return new Command("snapshot")
    .description("write the state of the cluster at one revision to a file; the cluster may be running")
    .argument("<file>", "the file to write")
    .addOption(dataDirOption())
    .action(async (file: string, options: DataDirOption) => {
      const dir = dataDirOf(options);
      const running = (await findRunning(dir)).running;
      await replaceFile(file, running ? await fromServer(dir) : fromDisk(dir));
      process.stdout.write(`Wrote ${file} (${(await stat(file)).size} bytes).\n`);
    });
}

async function fromServer(dir: DataDir): Promise<AsyncIterable<Uint8Array>> {
  const response = await askServer(dir, "/k8ts/snapshot");
  if (response.statusCode !== 200)
    throw new ClusterError(`The API server refused the snapshot: ${await bodyText(response)}`);
  return response;
}

async function* fromDisk(dir: DataDir): AsyncIterable<Uint8Array> {
  const { openStoppedStore, storeOf } = await etcdTools();
  const config = await storeOf(dir);
  if (config === undefined)
    throw new ClusterError(`No cluster is running in ${dir.path}, and it has no state: there is nothing to snapshot.`);
  const clock = realClock();
  const lock = await openDataDir(dir);
  try {
    const store = await openStoppedStore(dir, config, { clock });
    try {
      yield* writeSnapshot(store, clock);
    } finally {
      await store.close();
    }
  } finally {
    lock.release();
  }
}

/** Writes the file durably and atomically. */
async function replaceFile(file: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  const temporary = `${file}.${process.pid}`;
  try {
    await pipeline(content, createWriteStream(temporary, { mode: 0o600, flush: true }));
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  const folder = await open(dirname(file));
  await folder.sync().finally(() => folder.close());
}
