/**
 * The data directory: everything that one cluster keeps on disk, and the lock that lets only one process use it.
 *
 *     k8ts.json    marks the directory, and holds its format
 *     lock         held while a cluster runs (released when its process ends)
 *     run.json     the address of the running cluster; absent while none runs
 *     pki/         authorities, certificates, keys
 *     store/       the embedded store
 *     kubeconfig   the admin's
 *     k8ts.log     the log of a detached cluster
 *     flows.ndjson flow records, with --flow-records file
 *     publish.json    what the user publishes on ports of this machine; published.json: which ports are open
 *     nodes/       real nodes: their records, disks and logs
 *
 * 1. A directory of a newer format, or one that holds something else, is refused and left untouched.
 */
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { acquireFileLock, type FileLock } from "#base";
import { ClusterError } from "../config/errors.ts";

const FORMAT = 1;

export interface DataDir {
  readonly path: string;
  readonly marker: string;
  readonly lock: string;
  readonly run: string;
  readonly pki: string;
  readonly store: string;
  readonly kubeconfig: string;
  readonly log: string;
  readonly flowRecords: string;
  readonly nodes: string;
  readonly publish: string;
  readonly published: string;
}

export function dataDir(path: string): DataDir {
  const at = (name: string) => join(path, name);
  return {
    path,
    marker: at("k8ts.json"),
    lock: at("lock"),
    run: at("run.json"),
    pki: at("pki"),
    store: at("store"),
    kubeconfig: at("kubeconfig"),
    log: at("k8ts.log"),
    flowRecords: at("flows.ndjson"),
    nodes: at("nodes"),
    publish: at("publish.json"),
    published: at("published.json"),
  };
}

export function defaultDataDir(env: NodeJS.ProcessEnv): string {
  return resolve(env.K8TS_HOME || join(homedir(), ".k8ts"));
}

/** Creates the directory if it is missing, checks that it is ours, and locks it. */
export async function openDataDir(dir: DataDir): Promise<FileLock> {
  await prepare(dir);
  const lock = acquireFileLock(dir.lock, { holder: `process ${process.pid}` });
  if ("heldBy" in lock) {
    throw new ClusterError(
      `A cluster is already running in ${dir.path} (${lock.heldBy}). Stop it with \`k8ts down\`, or choose another --data-dir.`,
    );
  }
  return lock;
}

/** Whether some process holds the directory's lock right now. */
export function isInUse(dir: DataDir): boolean {
  if (!existsSync(dir.lock)) return false;
  const lock = acquireFileLock(dir.lock, { holder: `process ${process.pid}` });
  if ("heldBy" in lock) return true;
  lock.release();
  return false;
}

export async function readMarker(dir: DataDir): Promise<{ format: number } | undefined> {
  const text = await readFile(dir.marker, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new ClusterError(`${dir.marker} cannot be read: ${error.message}.`, { cause: error });
  });
  if (text === undefined) return undefined;
  try {
    const marker: unknown = JSON.parse(text);
    if (typeof marker === "object" && marker !== null && "format" in marker && typeof marker.format === "number") {
      return { format: marker.format };
    }
  } catch {
    // not JSON: reported below
  }
  throw new ClusterError(
    `${dir.marker} is damaged. The directory was left untouched: restore that file, or choose another --data-dir.`,
  );
}

async function prepare(dir: DataDir): Promise<void> {
  try {
    await mkdir(dir.path, { recursive: true, mode: 0o700 });
    const marker = await readMarker(dir);
    if (marker === undefined) {
      const strangers = (await readdir(dir.path)).filter((name) => !name.startsWith("lock") && !name.endsWith(".log"));
      if (strangers.length > 0) {
        throw new ClusterError(
          `${dir.path} is not a k8ts data directory (it contains ${strangers.slice(0, 3).join(", ")}). Choose an empty one with --data-dir.`,
        );
      }
      await writeFileAtomic(dir.marker, `${JSON.stringify({ format: FORMAT })}\n`);
    } else if (marker.format > FORMAT) {
      throw new ClusterError(
        `${dir.path} was written by a newer k8ts (format ${marker.format}; this one knows ${FORMAT}). Update k8ts, or choose another --data-dir.`,
      );
    }
  } catch (error) {
    if (error instanceof ClusterError) throw error;
    throw new ClusterError(
      `The data directory ${dir.path} cannot be used: ${(error as Error).message}. Choose another with --data-dir.`,
      {
        cause: error,
      },
    );
  }
}

/** Removes the cluster's files, including earlier stores and incomplete files, and nothing else. */
export async function eraseDataDir(dir: DataDir): Promise<void> {
  const ours = [
    dir.run,
    dir.pki,
    dir.store,
    dir.kubeconfig,
    dir.log,
    dir.flowRecords,
    dir.nodes,
    dir.publish,
    dir.published,
    dir.marker,
    dir.lock,
  ].map((path) => basename(path));
  for (const name of await readdir(dir.path)) {
    if (ours.some((own) => name === own || name.startsWith(`${own}.`) || name.startsWith(`${own}-`))) {
      await rm(join(dir.path, name), { recursive: true, force: true });
    }
  }
  if ((await readdir(dir.path)).length === 0) await rm(dir.path, { recursive: true });
}

export async function writeFileAtomic(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}`;
  await writeFile(temporary, text, { mode: 0o600 });
  await rename(temporary, path);
}
