/**
 * Ends a node like a power failure: its processes, and its mounts, namespaces, cgroups and sockets. Its disk stays.
 * Works from names and records alone, so it also cleans up after a crash.
 *
 *     kubelet, proxy, CSI driver ──► containerd ──► first process ──► shims ──► containers ──► mounts, loop devices
 *         ──► network ──► cgroups ──► run files
 *
 * 1. With the first process of its namespaces the kernel ends all others; the rest is for nodes without namespaces, and
 *    for processes that a crash left without a record: those are found by their cgroup and their arguments.
 */
import { readdir, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "#base";
import { removeMappedMounts } from "./isolation/mapped-mounts.ts";
import { removeUserNamespace } from "./isolation/user-namespace.ts";
import { releaseLoops } from "./isolation/volume-devices.ts";
import { removeCgroup } from "./machine/cgroups.ts";
import { below, mounts, unmountBelow } from "./machine/mounts.ts";
import { endProcess, findProcesses, type ProcessId, processArgs } from "./machine/processes.ts";
import { leaveMachine } from "./machine-network.ts";
import { removeNodeLink, removeSwitch } from "./network/links.ts";
import { removeWayOut } from "./outside/way-out.ts";
import { endIngress } from "./programs/ingress.ts";
import { argumentOf, isShimOf, shimSocket } from "./runtime/shims.ts";
import { LOOP_CLAIMS, type NodeNames, type SiteNames } from "./site/names.ts";
import { listNodes, type NodeRecord, type NodeRun, writeRun } from "./site/record.ts";

/** libcni's own. */
const CNI_RESULTS = "/var/lib/cni/results";
const GRACE_MS = 3_000;
const KILL_MS = 0;

export async function powerOff(site: SiteNames, { names, spec, run }: NodeRecord, clock: Clock): Promise<void> {
  await endAll([run?.kubelet, run?.proxy, run?.csiDriver, ...(await findProcesses(isAgentOf(names)))], GRACE_MS, clock);
  await endAll([run?.containerd, ...(await findProcesses(isContainerdOf(names)))], GRACE_MS, clock);
  await endAll([run?.init], KILL_MS, clock);
  const shims = await findProcesses(isShimOf(names));
  const ids = await sandboxIds(names, shims);
  await endAll(shims, KILL_MS, clock);
  await removeCgroup(names.cgroup, clock);
  await unmountBelow(names.runDir);
  await unmountBelow(names.dir);
  await unmountBelow(names.outsideVolumes.folder);
  await releaseLoops(names, clock);
  await removeTree(names.outsideVolumes.folder);
  await removeTree(names.outsideVolumes.deviceDir);
  await removeMappedMounts(names);
  await removeCgroup(names.volumesCgroup, clock);
  if (spec.onMachine === true) await leaveMachine(site, names, run, clock);
  else await removeNodeLink(names);
  await removeUserNamespace(names);
  for (const id of ids) await rm(shimSocket(names, id), { force: true });
  await removeCniResults(ids);
  await removeTree(names.runDir);
  await removeTree(names.containerState);
}

/** All nodes and the network between them. */
export async function powerOffAll(site: SiteNames, clock: Clock): Promise<void> {
  await Promise.all([
    endIngress(site, clock, GRACE_MS),
    ...(await listNodes(site)).map((record) => endNode(site, record, clock)),
  ]);
  await removeWayOut(site, clock);
  await removeSwitch(site);
  await removeCgroup(site.cgroup, clock);
  await removeCgroup(site.volumesCgroup, clock);
  await unmountBelow(site.runDir);
  // Also what belongs to no node, such as the probe of a start that was killed.
  await unmountBelow(site.nodesDir);
  await removeTree(site.runDir);
  await rmdir(LOOP_CLAIMS).catch(() => {}); // other clusters may use it, or it does not exist
  await rmdir(dirname(site.runDir)).catch(() => {}); // other clusters may use it, or it does not exist
}

async function endNode(site: SiteNames, record: NodeRecord, clock: Clock): Promise<void> {
  const { names, spec, run } = record;
  await powerOff(site, record, clock);
  if (spec.wanted === "removed") await removeNodeDir(names);
  else if (run !== undefined) await writeRun(names, stopped(run));
}

export function stopped({ index, ip, ip6, podCidrs }: NodeRun): NodeRun {
  return { index, ip, ...(ip6 !== undefined && { ip6 }), podCidrs, state: "stopped" };
}

/** The node's record goes last: after a crash in between, the next start removes the rest. */
export async function removeNodeDir({ dir, specFile }: Pick<NodeNames, "dir" | "specFile">): Promise<void> {
  for (const name of await readdir(dir).catch(() => [])) // it is gone
    if (join(dir, name) !== specFile) await removeTree(join(dir, name));
  await removeTree(dir);
}

/** Refuses while something is mounted below: its source would be deleted. */
export async function removeTree(folder: string): Promise<void> {
  const mounted = below(await mounts(), folder);
  if (mounted.length > 0) throw new Error(`${folder} is not removed: ${mounted[0]} is still mounted`);
  await rm(folder, { recursive: true, force: true });
}

async function endAll(processes: readonly (ProcessId | undefined)[], graceMs: number, clock: Clock): Promise<void> {
  await Promise.all(processes.map((process) => process && endProcess(process, graceMs, clock)));
}

/** By command line, for processes that a crash left without a record. */
function isContainerdOf({ containerdConfig }: NodeNames): (args: readonly string[]) => boolean {
  return (args) => args.includes("--config") && args.includes(containerdConfig);
}

function isAgentOf(names: NodeNames): (args: readonly string[]) => boolean {
  const { kubeconfig, proxyKubeconfig, volumesDir, outsideVolumes } = names;
  const states = [volumesDir, outsideVolumes.dir].map((dir) => `--state-dir=${dir}`);
  const own = [...states, ...[kubeconfig, proxyKubeconfig].map((file) => `--kubeconfig=${file}`)];
  return (args) => own.some((flag) => args.includes(flag));
}

/** Shims listen in a folder that all containerds share. Bundles name the sandboxes of exited shims. */
async function sandboxIds(names: NodeNames, shims: readonly ProcessId[]): Promise<string[]> {
  const bundles = join(names.stateDir, "io.containerd.runtime.v2.task", "k8s.io");
  const ids = await readdir(bundles).catch(() => []); // there are none
  const running = await Promise.all(shims.map(async ({ pid }) => argumentOf(await processArgs(pid), "-id")));
  return [...ids, ...running.filter((id) => id !== undefined)];
}

/**
 * What libcni remembers of sandboxes that were not taken down in order. It is on the disk of an isolated node; else it
 * is on the machine, in a folder that all containerds share: `<network>-<sandbox>-<interface>`.
 */
async function removeCniResults(ids: readonly string[]): Promise<void> {
  const names = await readdir(CNI_RESULTS).catch(() => []); // there are none
  for (const name of names)
    if (ids.some((id) => name.includes(`-${id}-`))) await rm(join(CNI_RESULTS, name), { force: true });
}
