/**
 * Brings one real node to its wanted state. Each step is idempotent: the same call starts a new node, adopts a running
 * one, and repairs one that has lost a part.
 *
 *     network ──► containerd ──► images ──► proxy, kubelet ──► (Node registers, gets its Pod CIDR) ──► routes to Pods
 *
 * 1. A process is recorded before anything waits for it.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { endProcess, isAlive, type ProcessId } from "./machine/processes.ts";
import { CONFLIST, cniConfig } from "./network/cni-config.ts";
import { ensureNodeLink } from "./network/links.ts";
import { type KubeletOptions, kubeletStart, startKubelet } from "./programs/kubelet.ts";
import { networkAgentStart, startNetworkAgent } from "./programs/network-agent.ts";
import { type ContainerdOptions, containerdReady, openRuntime, startContainerd } from "./runtime/containerd.ts";
import { removeHalfMade } from "./runtime/unfinished-sandboxes.ts";
import type { NodeNames, SiteNames } from "./site/names.ts";
import { addressesOf, type NodeRun, writeRun } from "./site/record.ts";
import type { SiteNetwork } from "./site/site-network.ts";

const AGENT_GRACE_MS = 10_000;

export interface NodeOptions extends ContainerdOptions {
  readonly site: SiteNames;
  readonly network: SiteNetwork;
  readonly kubelet: KubeletOptions;
}

/** Resolves when containerd responds and the other processes are started. */
export async function bringUp(names: NodeNames, found: NodeRun, options: NodeOptions): Promise<NodeRun> {
  const { site, network, kubelet, clock, log } = options;
  let run = found;
  const write = async (changes: Partial<NodeRun>) => {
    run = { ...run, ...changes };
    await writeRun(names, run);
  };
  await write({ state: "starting" });
  await ensureNodeLink(site, names, run, network);
  if (run.podCidrs.length > 0) await writePodNetwork(names, run.podCidrs);

  const sinceMs = clock.now();
  const living = run.containerd !== undefined && (await isAlive(run.containerd)) ? run.containerd : undefined;
  const containerd = living ?? (await startContainerd(names, options));
  if (living === undefined) await write({ containerd });
  else log.info("containerd is already running", { node: names.name, pid: living.pid });
  await containerdReady(names, containerd, options);

  const agents = agentsOf(names, run, kubelet);
  for (const { process, started, start, begin } of agents) {
    const isRunning = process !== undefined && (await isAlive(process));
    if (isRunning && started === start) continue;
    if (isRunning) await endProcess(process, AGENT_GRACE_MS, clock);
    await write(await begin());
  }
  if (living === undefined) await clearUp(names, containerd, sinceMs, options);
  const { reason: _, ...healthy } = run;
  run = { ...healthy, state: "running" };
  await writeRun(names, run);
  return run;
}

/** Pods do not wait for it; leftovers do no harm, and the next start tries again. */
async function clearUp(names: NodeNames, containerd: ProcessId, sinceMs: number, options: NodeOptions): Promise<void> {
  const { clock, log } = options;
  const runtime = openRuntime(names, options);
  try {
    await removeHalfMade(names, { containerd, sinceMs, runtime, clock, log });
  } catch (error) {
    log.warn("leftovers of a killed containerd could not be removed", { node: names.name, error });
  } finally {
    await runtime.close();
  }
}

/** Whether its processes run, with the command lines that would be used now. */
export async function isUp(run: NodeRun, names: NodeNames, kubelet: KubeletOptions): Promise<boolean> {
  if (run.state !== "running" || run.containerd === undefined || !(await isAlive(run.containerd))) return false;
  for (const { process, started, start } of agentsOf(names, run, kubelet)) {
    if (process === undefined || started !== start || !(await isAlive(process))) return false;
  }
  return true;
}

interface Agent {
  readonly process: ProcessId | undefined;
  /** Its command line at the start, and the one that would be used now. */
  readonly started: string | undefined;
  readonly start: string;
  /** Its record. */
  begin(): Promise<Partial<NodeRun>>;
}

/** The node's own processes of k8ts, in the order in which they start. */
function agentsOf(names: NodeNames, run: NodeRun, options: KubeletOptions): readonly Agent[] {
  const ips = addressesOf(run);
  const kubeletNow = kubeletStart(names, ips, options);
  const proxyNow = networkAgentStart(names, ips, options);
  return [
    {
      process: run.proxy,
      started: run.proxyStart,
      start: proxyNow,
      begin: async () => ({ proxy: await startNetworkAgent(names, ips, options), proxyStart: proxyNow }),
    },
    {
      process: run.kubelet,
      started: run.kubeletStart,
      start: kubeletNow,
      begin: async () => ({ kubelet: await startKubelet(names, ips, options), kubeletStart: kubeletNow }),
    },
  ];
}

/** containerd watches for the file, and is then ready for Pods. */
export async function writePodNetwork(names: NodeNames, podCidrs: readonly string[]): Promise<void> {
  await mkdir(names.cniDir, { recursive: true, mode: 0o700 });
  await writeFile(join(names.cniDir, CONFLIST), cniConfig(names, podCidrs), { mode: 0o600 });
}
