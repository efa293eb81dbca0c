/**
 * One node of this machine, brought to what is wanted. Each step looks first and does what is missing: the same call starts a new node, takes up
 * one that has been running all along, and mends one that has lost a part.
 *
 *     network ──► containerd ──► images ──► kubelet ──► (Node appears in the API, gets its Pods' range) ──► ways to Pods
 *
 * 1. A process is written down before anything waits for it.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CONFLIST, cniConfig } from "./cni-config.ts";
import { type ContainerdOptions, containerdReady, startContainerd } from "./containerd.ts";
import { type KubeletOptions, kubeletStart, startKubelet } from "./kubelet.ts";
import type { NodeNames, SiteNames } from "./names.ts";
import { ensureNodeLink } from "./network.ts";
import { endProcess, isAlive } from "./processes.ts";
import { type NodeRun, writeRun } from "./record.ts";
import type { SiteNetwork } from "./site-network.ts";

const KUBELET_GRACE_MS = 10_000;

export interface NodeOptions extends ContainerdOptions {
  readonly site: SiteNames;
  readonly network: SiteNetwork;
  readonly kubelet: KubeletOptions;
}

/** Resolves when containerd answers and the kubelet has been started. */
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

  if (run.containerd === undefined || !(await isAlive(run.containerd))) {
    await write({ containerd: await startContainerd(names, options) });
  } else {
    log.info("containerd is running already", { node: names.name, pid: run.containerd.pid });
  }
  if (run.containerd !== undefined) await containerdReady(names, run.containerd, options);

  const start = kubeletStart(names, run.ip, kubelet);
  const isRunning = run.kubelet !== undefined && (await isAlive(run.kubelet));
  if (run.kubelet !== undefined && isRunning && run.kubeletStart !== start) {
    await endProcess(run.kubelet, KUBELET_GRACE_MS, clock);
  }
  if (!isRunning || run.kubeletStart !== start) {
    await write({ kubelet: await startKubelet(names, run.ip, kubelet), kubeletStart: start });
  }
  const { reason: _mended, ...mended } = run;
  run = { ...mended, state: "running" };
  await writeRun(names, run);
  return run;
}

/** Whether its processes are there, and the kubelet is the one that would be started now. */
export async function isUp(run: NodeRun, names: NodeNames, kubelet: KubeletOptions): Promise<boolean> {
  if (run.state !== "running" || run.containerd === undefined || run.kubelet === undefined) return false;
  if (run.kubeletStart !== kubeletStart(names, run.ip, kubelet)) return false;
  return (await isAlive(run.containerd)) && (await isAlive(run.kubelet));
}

/** containerd sees the file appear, and is ready for Pods. */
export async function writePodNetwork(names: NodeNames, podCidrs: readonly string[]): Promise<void> {
  await mkdir(names.cniDir, { recursive: true, mode: 0o700 });
  await writeFile(join(names.cniDir, CONFLIST), cniConfig(names, podCidrs), { mode: 0o600 });
}
