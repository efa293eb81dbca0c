/**
 * The data directory: everything that one cluster keeps on disk, and the lock that lets only one process use it.
 *
 *     k8ts.json    marks the directory, and holds its format
 *     lock         held while a cluster runs (released when its process ends)
 *     run.json     the address of the running cluster; absent while none runs
 *     last.json    what the last start chose: the next one takes it again
 *     join.json    of a machine that joined a cluster: which one, and as what
 *     dashboard.json  where the running cluster's dashboard is, and the secret for a link to it
 *     pki/         authorities, certificates, keys
 *     store/       the embedded store
 *     kubeconfig   the admin's
 *     k8ts.log     the log of a detached cluster
 *     flows.ndjson flow records, with --flow-records file
 *     publish.json    what the user publishes on ports of this machine; published.json: which ports are open
 *     nodes/       real nodes: their records, disks and logs
 *
 * 1. A directory of a newer format, or one that holds something else, is refused and left untouched.
 * 2. Other clusters may lie in folders of it (cluster-names.ts): they are not touched.
 */
import { existsSync } from "node:fs";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { acquireFileLock, type FileLock, makeFolder } from "#base";
import { ClusterError } from "../config/errors.ts";

const FORMAT = 1;

export interface DataDir {
  readonly path: string;
  /** Of the cluster. Undefined: it has none. */
  readonly name: string | undefined;
  readonly marker: string;
  readonly lock: string;
  readonly run: string;
  readonly last: string;
  readonly join: string;
  readonly dashboard: string;
  readonly pki: string;
  readonly store: string;
  readonly kubeconfig: string;
  readonly log: string;
  readonly flowRecords: string;
  readonly nodes: string;
  readonly registry: string;
  readonly publish: string;
  readonly published: string;
}

export function dataDir(path: string, name?: string): DataDir {
  const at = (name: string) => join(path, name);
  return {
    path,
    name,
    marker: at("k8ts.json"),
    lock: at("lock"),
    run: at("run.json"),
    last: at("last.json"),
    join: at("join.json"),
    dashboard: at("dashboard.json"),
    pki: at("pki"),
    store: at("store"),
    kubeconfig: at("kubeconfig"),
    log: at("k8ts.log"),
    flowRecords: at("flows.ndjson"),
    nodes: at("nodes"),
    registry: at("registry"),
    publish: at("publish.json"),
    published: at("published.json"),
  };
}

/** How a command names it: `k8ts down dev`. */
export function commandFor({ name, path }: DataDir, verb: string): string {
  if (name === undefined) return `k8ts ${verb} --data-dir ${path}`;
  return name === "default" ? `k8ts ${verb}` : `k8ts ${verb} ${name}`;
}

/** Creates the directory if it is missing, checks that it is ours, and locks it. */
export async function openDataDir(dir: DataDir): Promise<FileLock> {
  await prepareDataDir(dir);
  const lock = acquireFileLock(dir.lock, { holder: `process ${process.pid}` });
  if ("heldBy" in lock) {
    throw new ClusterError(
      `A cluster is already running in ${dir.path} (${lock.heldBy}). Stop it with \`${commandFor(dir, "down")}\`, or start another one: \`k8ts up NAME\`.`,
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

/** Creates the directory if it is missing, and checks that it is ours: one that is not stays as it is. */
export async function prepareDataDir(dir: DataDir): Promise<void> {
  try {
    await makeFolder(dir.path, 0o700);
    const marker = await readMarker(dir);
    if (marker === undefined) {
      const strangers = (await readdir(dir.path)).filter(
        (name) => !name.startsWith("lock") && !name.endsWith(".log") && !isCluster(join(dir.path, name)),
      );
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
  // While the marker is there, a reset that failed or was killed can be repeated.
  const last = [dir.marker, dir.lock].map((path) => basename(path));
  const names = (await readdir(dir.path)).filter((name) => isOwnFile(name) && !isCluster(join(dir.path, name)));
  for (const name of [...names.filter((each) => !last.includes(each)), ...last])
    await rm(join(dir.path, name), { recursive: true, force: true });
  if ((await readdir(dir.path)).length === 0) await rm(dir.path, { recursive: true });
}

/** What a cluster keeps in its directory, by the beginnings of the names. */
export function isOwnFile(name: string): boolean {
  const { path: _, name: __, ...files } = dataDir("");
  const ours = Object.values(files);
  return ours.some((own) => name === own || name.startsWith(`${own}.`) || name.startsWith(`${own}-`));
}

/** Whether another cluster's directory is there. */
function isCluster(path: string): boolean {
  return existsSync(join(path, basename(dataDir("").marker)));
}

export async function writeFileAtomic(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}`;
  await writeFile(temporary, text, { mode: 0o600 });
  await rename(temporary, path);
}
