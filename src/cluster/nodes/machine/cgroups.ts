/** The cgroups of a node's containers, in all hierarchies of the machine (cgroup v2 or v1). */
import { existsSync } from "node:fs";
import { readdir, readFile, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "#base";
import { type MountPoint, mounts } from "./mounts.ts";
import { endProcess, processId } from "./processes.ts";

const RETRY_MS = 20;
const PATIENCE_MS = 10_000;

/** The mount points of all hierarchies. */
export async function cgroupRoots(): Promise<MountPoint[]> {
  const found = (await mounts()).filter(({ type }) => type === "cgroup" || type === "cgroup2");
  return [...new Map(found.map((mount) => [mount.path, mount])).values()];
}

/** The hierarchy of cgroup v1 that says which devices may be opened; undefined with cgroup v2. */
export async function deviceRoot(): Promise<string | undefined> {
  return (await cgroupRoots()).map(({ path }) => path).find((path) => existsSync(join(path, "devices.list")));
}

/** The one hierarchy of a machine with cgroup v2 alone: it says that, too. */
export async function unifiedRoot(): Promise<string | undefined> {
  return (await cgroupRoots()).find(({ path, type }) => type === "cgroup2" && path === "/sys/fs/cgroup")?.path;
}

/** Kills all processes in the group, and removes it. */
export async function removeCgroup(group: string, clock: Clock): Promise<void> {
  const folders = (await cgroupRoots()).map(({ path }) => join(path, group));
  const deadline = clock.monotonic() + PATIENCE_MS;
  for (;;) {
    const pids = new Set((await Promise.all(folders.map(processesIn))).flat());
    await Promise.all([...pids].map((pid) => kill(pid, clock)));
    const left = (await Promise.all(folders.map(removeTree))).filter((failure) => failure !== undefined);
    if (left.length === 0) return;
    if (clock.monotonic() >= deadline) throw left[0];
    await clock.sleep(RETRY_MS);
  }
}

async function processesIn(folder: string): Promise<number[]> {
  const [own, children] = await Promise.all([
    orNothing(readFile(join(folder, "cgroup.procs"), "utf8"), ""),
    subfolders(folder),
  ]);
  const inside = await Promise.all(children.map((child) => processesIn(join(folder, child))));
  return [...own.split("\n").filter(Boolean).map(Number), ...inside.flat()];
}

async function kill(pid: number, clock: Clock): Promise<void> {
  const process = await processId(pid);
  if (process !== undefined) await endProcess(process, 0, clock);
}

/** Groups that could not be removed yet because a process in them is still exiting. */
async function removeTree(folder: string): Promise<Error | undefined> {
  for (const child of await subfolders(folder)) {
    const failure = await removeTree(join(folder, child));
    if (failure !== undefined) return failure;
  }
  return rmdir(folder).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => (error.code === "ENOENT" ? undefined : error),
  );
}

async function subfolders(folder: string): Promise<string[]> {
  const entries = await orNothing(readdir(folder, { withFileTypes: true }), []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

async function orNothing<T>(reading: Promise<T>, nothing: T): Promise<T> {
  return reading.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENODEV") return nothing;
    throw error;
  });
}
