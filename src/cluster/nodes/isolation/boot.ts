/**
 * Starts a node as a machine of its own: a container with its root, namespaces and cgroup, whose first process reaps
 * orphans. The node ends with that process: the kernel kills all others and drops the mounts.
 *
 *     disk, /etc ──► config.json ──► runc ──► first process ──► mounts are shared among the node's containers
 */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "#base";
import { cgroupRoots } from "../machine/cgroups.ts";
import { CommandError, findProgram, run } from "../machine/command.ts";
import { type ProcessId, processId } from "../machine/processes.ts";
import type { NodeNames, SiteNames } from "../site/names.ts";
import { nodeCapabilities } from "./capabilities.ts";
import { deviceRules, guardDevices } from "./devices.ts";
import { mapMounts } from "./mapped-mounts.ts";
import { configFile, nodeContainer } from "./node-container.ts";
import { etcFolders, makeEtc, systemFolders } from "./node-disk.ts";
import { mountProblem, type NodeMount } from "./node-mounts.ts";
import { ensureOutsideVolumes } from "./outside-volumes.ts";
import { isolatedPlace, type Place, SYSTEM_GROUP } from "./place.ts";
import { emptyDirOf } from "./programs.ts";
import { giveCgroups, giveFiles, type IdRange, idRangeOf } from "./user-namespace.ts";

export interface BootOptions {
  readonly site: SiteNames;
  /** The node's addresses. */
  readonly ips: readonly string[];
  readonly mounts: readonly NodeMount[];
  /** The node's loop devices, if all of it may open such. */
  readonly openLoops?: number | undefined;
  /** Names that the node knows, with their addresses. */
  readonly hosts?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly log: Logger;
}

/** runc passes its standard streams on to the first process: they must not be those of this process. */
const SILENT = 'exec "$@" < /dev/null > /dev/null 2>&1';

/** For a root that has no right to the folders above its disk. */
const BIND_ROOT = 'mount --bind "$1" "$2" && shift 2 && exec "$@"';

/** Its disk and network namespace exist, and no leftovers of an earlier start do. */
export async function bootNode(names: NodeNames, options: BootOptions): Promise<ProcessId> {
  const { site, ips, openLoops, hosts, log } = options;
  let { mounts } = options;
  for (const mount of mounts) {
    const problem = mountProblem(mount);
    if (problem !== undefined) throw new Error(`--node-mount: ${problem}`);
  }
  const ids = await idRangeOf(names);
  if (ids !== undefined) {
    const mapped = await mapMounts(names, mounts);
    for (const { source, why } of mapped.unmapped)
      log.warn("the node has only everybody's rights in a folder", { node: names.name, folder: source, why });
    mounts = mapped.mounts;
  }
  await makeEtc(names, ips, site.id, hosts);
  for (const [dir, mode] of [
    [names.runDir, 0o755],
    [names.manifestDir, 0o700],
    [names.bundleDir, 0o700],
    [names.containerState, 0o700],
  ] as const)
    await mkdir(dir, { recursive: true, mode });
  const [status, devices] = await Promise.all([
    readFile("/proc/self/status", "utf8"),
    readFile("/proc/devices", "utf8"),
  ]);
  const rules = deviceRules(devices, openLoops !== undefined);
  await guardDevices(site.cgroup, rules);
  const container = nodeContainer(names, {
    busybox: findProgram("busybox") ?? "/usr/bin/busybox",
    capabilities: nodeCapabilities(status),
    devices: rules,
    systemFolders: systemFolders(),
    etcFolders: etcFolders(),
    programsDir: site.programsDir,
    emptyDir: emptyDirOf(site),
    mounts,
    // In a user namespace there are no device files but those that are mounted.
    firstLoop: ids === undefined ? openLoops : undefined,
    ids,
  });
  if (ids !== undefined) {
    await giveFiles(ids, [names.etcDir, names.runDir, names.manifestDir]);
    await mkdir(names.rootDir, { recursive: true, mode: 0o755 });
    await ensureOutsideVolumes(names);
  }
  await writeFile(configFile(names), JSON.stringify(container, undefined, 2), { mode: 0o600 });
  return runContainer(names, ids);
}

async function runContainer(names: NodeNames, ids: IdRange | undefined): Promise<ProcessId> {
  const at = (file: string) => join(names.bundleDir, file);
  const [log, pidFile] = [at("runc.log"), at("pid")];

  await rm(log, { force: true });
  const container = ["run", "--detach", "--bundle", names.bundleDir, "--pid-file", pidFile, names.namespace];
  const runc = ["runc", "--root", names.containerState, "--log", log, ...container];
  // Mounts of the node must not appear on the machine: runc itself would leave the root a peer of the machine's.
  const root = ids === undefined ? [] : ["sh", "-c", BIND_ROOT, "sh", names.diskDir, names.rootDir];
  const command = ["unshare", "--mount", "--propagation", "slave", ...root, ...runc];
  await run("sh", ["-c", SILENT, "sh", ...command]).catch(async (error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    const said = await readFile(log, "utf8").catch(() => ""); // runc did not start
    throw new CommandError(`the node's container does not start: ${said.trim().split("\n").at(-1) || error.message}`);
  });
  const init = await processId(Number(await readFile(pidFile, "utf8")));
  if (init === undefined) throw new CommandError(`the first process of node ${names.name} has exited`);
  return init;
}

/** What can only be done from inside. Idempotent. */
export async function finishBoot(names: NodeNames, init: ProcessId): Promise<Place> {
  for (const { path, type } of await cgroupRoots()) {
    if (type !== "cgroup2") continue;
    const group = join(path, names.cgroup, SYSTEM_GROUP);
    await mkdir(group, { recursive: true });
    await writeFile(join(group, "cgroup.procs"), String(init.pid));
  }
  const ids = await idRangeOf(names);
  if (ids !== undefined) await giveCgroups(names, ids);
  const place = await isolatedPlace(names, init);
  const { stateDir, socket } = place.files;
  const usual = join(stateDir, "containerd.sock");
  // So that mounts of drivers in Pods reach the node's other containers.
  const script = 'mount --make-rshared / && mkdir -p "$1" && ln -sfn "$2" "$3"';
  await place.run("sh", ["-c", script, "sh", stateDir, socket, usual]);
  return place;
}
