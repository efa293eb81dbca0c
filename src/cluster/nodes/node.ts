/**
 * Brings one real node to its wanted state. Each step is idempotent: the same call starts a new node, adopts a running
 * one, and repairs one that has lost a part.
 *
 *     network ──► namespaces ──► containerd ──► images ──► CSI driver, proxy, kubelet
 *             ──► (Node registers, gets its Pod CIDR) ──► routes to Pods
 *
 * 1. A process is recorded before anything waits for it.
 * 2. A node without its first process, or with namespaces of another kind than wanted, is off: it starts anew.
 */
import { join } from "node:path";
import { CREDENTIALS_FILE } from "../registries/index.ts";
import { bootNode, finishBoot } from "./isolation/boot.ts";
import { ensureDisk } from "./isolation/node-disk.ts";
import type { NodeMount } from "./isolation/node-mounts.ts";
import { isolatedPlace, type Place, sharedPlace } from "./isolation/place.ts";
import { type IdRange, idRangeFor, idRangeOf, makeUserNamespace } from "./isolation/user-namespace.ts";
import { claimLoops, volumeObstacle } from "./isolation/volume-devices.ts";
import { endProcess, isAlive, type ProcessId } from "./machine/processes.ts";
import { CONFLIST, cniConfig } from "./network/cni-config.ts";
import type { NodeNetwork } from "./node-network.ts";
import { powerOff, stopped } from "./power-off.ts";
import { csiDriverProblem, csiDriverStart, startCsiDriver } from "./programs/csi-driver.ts";
import { CLUSTER_DNS, type KubeletOptions, kubeletStart, startKubelet } from "./programs/kubelet.ts";
import { networkAgentStart, startNetworkAgent } from "./programs/network-agent.ts";
import { type ContainerdOptions, containerdReady, openRuntime, startContainerd } from "./runtime/containerd.ts";
import type { ImageArchives } from "./runtime/image-archives.ts";
import type { Registries } from "./runtime/registries.ts";
import { removeHalfMade } from "./runtime/unfinished-sandboxes.ts";
import { insideNames, type NodeNames, type SiteNames } from "./site/names.ts";
import { addressesOf, type NodeRun, type NodeSpec, writeRun } from "./site/record.ts";

const AGENT_GRACE_MS = 10_000;

export interface NodeOptions extends ContainerdOptions {
  readonly site: SiteNames;
  readonly network: NodeNetwork;
  readonly kubelet: KubeletOptions;
  readonly spec: NodeSpec;
  /** Whether nodes have namespaces of their own. */
  readonly isIsolated: boolean;
  readonly mounts: readonly NodeMount[];
  /** Whether nodes that are made now have user namespaces of their own. */
  readonly hasUserNamespaces: boolean;
  /** Whether Pods of nodes that start now may open loop devices. */
  readonly opensLoops: boolean;
  /** Copied before the programs of the node start. */
  readonly registries: Pick<Registries, "copyTo">;
  readonly archives: Pick<ImageArchives, "giveTo">;
}

/** Resolves when containerd responds and the other processes are started. */
export async function bringUp(names: NodeNames, found: NodeRun, options: NodeOptions): Promise<NodeRun> {
  const { site, network, kubelet, clock, log, isIsolated, hasUserNamespaces, spec } = options;
  let run = found;
  const write = async (changes: Partial<NodeRun>) => {
    run = { ...run, ...changes };
    await writeRun(names, run);
  };
  if (!(await isOn(run, isIsolated))) {
    await powerOff(site, { names, spec, run }, clock);
    run = stopped(run);
  }
  await write({ state: "starting" });
  await ensureDisk(names, isIsolated && hasUserNamespaces ? idRangeFor(site, run.index) : undefined);
  const ids = isIsolated ? await idRangeOf(names) : undefined;
  await network.ensureLink(names, run, ids && (() => makeUserNamespace(names, ids)));
  if (isIsolated && run.firstLoop === undefined) {
    const why = ids === undefined ? await volumeObstacle() : undefined;
    if (why === undefined) await write({ firstLoop: await claimLoops(names) });
    else log.warn("the node makes no volumes", { node: names.name, why });
  }
  const place = await placeFor(names, run, options, write);
  if (run.podCidrs.length > 0) await writePodNetwork(place, run.podCidrs, network.mtu);

  const sinceMs = clock.now();
  const living = run.containerd !== undefined && (await isAlive(run.containerd)) ? run.containerd : undefined;
  const containerd = living ?? (await startContainerd(place, options));
  if (living === undefined) await write({ containerd });
  else log.info("containerd is already running", { node: names.name, pid: living.pid });
  await containerdReady(names, place, containerd, options);
  await options.registries.copyTo(place, names, run.init);
  await options.archives.giveTo(names, options.signal);

  const unwanted = await unwantedDriver(run, kubelet);
  if (unwanted !== undefined) await endProcess(unwanted, AGENT_GRACE_MS, clock);
  const agents = agentsOf(place.files, run, { kubelet, isIsolated, ids });
  for (const agent of agents) {
    if (await isCurrent(agent, clock.now())) continue;
    const { process } = agent;
    if (process !== undefined && (await isAlive(process))) await endProcess(process, AGENT_GRACE_MS, clock);
    await write(await agent.begin(place));
  }
  if (living === undefined) await clearUp(names, place, containerd, sinceMs, options);
  const { reason: _, ...healthy } = run;
  run = { ...healthy, state: "running" };
  await writeRun(names, run);
  return run;
}

/** Whether the node has the namespaces that it should have, and their first process. */
async function isOn({ init }: NodeRun, isIsolated: boolean): Promise<boolean> {
  return isIsolated ? init !== undefined && (await isAlive(init)) : init === undefined;
}

async function placeFor(
  names: NodeNames,
  run: NodeRun,
  { site, isIsolated, mounts, opensLoops, kubelet, log }: NodeOptions,
  write: (changes: Partial<NodeRun>) => Promise<void>,
): Promise<Place> {
  if (!isIsolated) return sharedPlace(names);
  if (run.init !== undefined) return finishBoot(names, run.init);
  const openLoops = opensLoops ? run.firstLoop : undefined;
  const own = { ips: addressesOf(run), openLoops, hosts: kubelet.dnsHosts };
  const init = await bootNode(names, { site, mounts, log, ...own });
  await write({ init, ...(openLoops !== undefined && { opensLoops: true }) });
  return finishBoot(names, init);
}

/** The place of a node that is up. */
export async function placeOf(names: NodeNames, { init }: NodeRun): Promise<Place> {
  return init === undefined ? sharedPlace(names) : isolatedPlace(names, init);
}

/** What registries.yaml says to the node's kubelet. Empty: nothing. */
export async function readRegistryCredentials(names: NodeNames, run: NodeRun): Promise<string> {
  const place = await placeOf(names, run);
  const file = join(place.files.kubeletRoot, CREDENTIALS_FILE);
  return place.run("sh", ["-c", 'if [ -e "$0" ]; then cat "$0"; fi', file]);
}

/** Pods do not wait for it; leftovers do no harm, and the next start tries again. */
async function clearUp(
  names: NodeNames,
  place: Place,
  containerd: ProcessId,
  sinceMs: number,
  options: NodeOptions,
): Promise<void> {
  const { clock, log } = options;
  const runtime = openRuntime(names, options);
  try {
    await removeHalfMade(names, place, { containerd, sinceMs, runtime, clock, log });
  } catch (error) {
    log.warn("leftovers of a killed containerd could not be removed", { node: names.name, error });
  } finally {
    await runtime.close();
  }
}

type Wanted = Pick<NodeOptions, "kubelet" | "isIsolated" | "clock">;

/** Whether its processes run, with the command lines that would be used now, and certificates that last. */
export async function isUp(run: NodeRun, names: NodeNames, { kubelet, isIsolated, clock }: Wanted): Promise<boolean> {
  if (run.state !== "running" || run.containerd === undefined || !(await isAlive(run.containerd))) return false;
  if (!(await isOn(run, isIsolated)) || (await unwantedDriver(run, kubelet)) !== undefined) return false;
  const ids = isIsolated ? await idRangeOf(names) : undefined;
  for (const agent of agentsOf(isIsolated ? insideNames(names) : names, run, { kubelet, isIsolated, ids })) {
    if (!(await isCurrent(agent, clock.now()))) return false;
  }
  return true;
}

/** A driver that runs since an earlier start with volumes. */
async function unwantedDriver({ csiDriver }: NodeRun, { localStorage = true }: KubeletOptions) {
  return !localStorage && csiDriver !== undefined && (await isAlive(csiDriver)) ? csiDriver : undefined;
}

interface Agent {
  readonly process: ProcessId | undefined;
  /** Its command line at the start, and the one that would be used now. */
  readonly started: string | undefined;
  readonly start: string;
  /** When its certificates have to be renewed. */
  readonly renewMs: number | undefined;
  /** Its record. */
  begin(place: Place): Promise<Partial<NodeRun>>;
}

async function isCurrent({ process, started, start, renewMs = 0 }: Agent, nowMs: number): Promise<boolean> {
  return process !== undefined && started === start && nowMs < renewMs && (await isAlive(process));
}

/** The node's own processes of k8ts, in the order in which they start. `files`: as they see them. */
function agentsOf(
  files: NodeNames,
  run: NodeRun,
  { kubelet: options, isIsolated, ids }: Pick<NodeOptions, "kubelet" | "isIsolated"> & { ids: IdRange | undefined },
): readonly Agent[] {
  const ips = addressesOf(run);
  const { firstLoop, opensLoops = false } = run;
  const isOutside = ids !== undefined && run.init !== undefined;
  const outside = isOutside ? { init: run.init, ids } : undefined;
  const loops = firstLoop === undefined ? undefined : { first: firstLoop, isOpen: opensLoops, outside };
  const { localStorage = true } = options;
  const hasDriver = localStorage && (!isIsolated || firstLoop !== undefined) && csiDriverProblem(files) === undefined;
  const driverNow = csiDriverStart(files, loops, options);
  const driver: Agent = {
    process: run.csiDriver,
    started: run.csiDriverStart,
    start: driverNow,
    renewMs: Number.POSITIVE_INFINITY,
    begin: async (place) => ({
      csiDriver: await startCsiDriver(place, loops, options),
      csiDriverStart: driverNow,
    }),
  };
  const kubeletNow = kubeletStart(files, ips, options);
  const proxyNow = networkAgentStart(files, ips, options);
  return [
    ...(hasDriver ? [driver] : []),
    {
      process: run.proxy,
      started: run.proxyStart,
      start: proxyNow,
      renewMs: run.proxyRenewMs,
      begin: async (place) => {
        const { process: proxy, renewMs: proxyRenewMs } = await startNetworkAgent(place, ips, options);
        const dnsAddresses = [options.clusterDns ?? CLUSTER_DNS];
        return { proxy, proxyStart: proxyNow, proxyRenewMs, dnsAddresses };
      },
    },
    {
      process: run.kubelet,
      started: run.kubeletStart,
      start: kubeletNow,
      renewMs: run.kubeletRenewMs,
      begin: async (place) => {
        const { process: kubelet, renewMs: kubeletRenewMs } = await startKubelet(place, ips, options);
        return { kubelet, kubeletStart: kubeletNow, kubeletRenewMs };
      },
    },
  ];
}

/** containerd watches for the file, and is then ready for Pods. */
export async function writePodNetwork(place: Place, podCidrs: readonly string[], mtu?: number): Promise<void> {
  await place.write(join(place.files.cniDir, CONFLIST), cniConfig(place.files, podCidrs, mtu), 0o600);
}
