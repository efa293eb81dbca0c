/**
 * Removes what a killed containerd had started and its successor does not know: shims with their processes, bundles,
 * mounts, network namespaces, addresses.
 *
 * 1. Touches only what existed before the new containerd started: the kubelet may already be creating Pods again.
 * 2. What containerd knows is left to the kubelet, which removes it through CRI.
 */
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, Logger } from "#base";
import type { Runtime } from "#kubelet";
import { CommandError, run } from "../machine/command.ts";
import { unmountBelow } from "../machine/mounts.ts";
import { endProcess, findProcesses, type ProcessId, processArgs, startedBefore } from "../machine/processes.ts";
import type { NodeNames } from "../site/names.ts";
import { argumentOf, isShimOf, shimSocket } from "./shims.ts";

const NAMESPACE = "k8s.io";
const NETWORK = "k8ts";

export interface HalfMadeOptions {
  /** The running containerd. */
  readonly containerd: ProcessId;
  /** The wall time before it was started. */
  readonly sinceMs: number;
  readonly runtime: Pick<Runtime, "listPodSandboxes" | "listContainers">;
  readonly clock: Clock;
  readonly log: Logger;
}

export async function removeHalfMade(node: NodeNames, options: HalfMadeOptions): Promise<void> {
  const { containerd, sinceMs, runtime, clock, log } = options;
  const [sandboxes, containers, tasks] = await Promise.all([
    runtime.listPodSandboxes(),
    runtime.listContainers(),
    run("ctr", ["--address", node.socket, "--namespace", NAMESPACE, "tasks", "list", "--quiet"]),
  ]);
  const running = new Set(tasks.split("\n").filter(Boolean));
  // A shim is named after its sandbox and also holds the containers, which may survive it.
  const inUse = new Set(running);
  for (const { id, podSandboxId } of containers) if (running.has(id)) inUse.add(podSandboxId);
  const known = new Set([...inUse, ...sandboxes.map(({ id }) => id), ...containers.map(({ id }) => id)]);

  const removed: string[] = [];
  for (const shim of await findProcesses(isShimOf(node))) {
    const id = argumentOf(await processArgs(shim.pid), "-id");
    if (id === undefined || inUse.has(id) || !startedBefore(shim, containerd)) continue;
    await deleteContainer(node, id);
    await endProcess(shim, 0, clock);
    await rm(shimSocket(node, id), { force: true });
    removed.push(`shim ${id}`);
  }
  const bundles = join(node.stateDir, "io.containerd.runtime.v2.task", NAMESPACE);
  for (const id of await olderThan(sinceMs, bundles)) {
    if (inUse.has(id)) continue;
    await deleteContainer(node, id);
    await unmountBelow(join(bundles, id));
    await rm(join(bundles, id), { recursive: true, force: true });
    removed.push(`bundle ${id}`);
  }
  for (const id of await olderThan(sinceMs, join(node.runcRoot, NAMESPACE))) {
    if (running.has(id)) continue;
    await deleteContainer(node, id);
    removed.push(`container ${id}`);
  }
  const folders = join(node.stateDir, "io.containerd.grpc.v1.cri", "sandboxes");
  for (const id of await olderThan(sinceMs, folders)) {
    if (known.has(id)) continue;
    await unmountBelow(join(folders, id));
    await rm(join(folders, id), { recursive: true, force: true });
    removed.push(`sandbox ${id}`);
  }
  removed.push(...(await removeNetworks(node, sinceMs)));
  removed.push(...(await freeAddresses(node, sinceMs, known)));
  if (removed.length > 0) log.info("leftovers of a killed containerd were removed", { node: node.name, removed });
}

/** With all its processes. An unfinished one is unknown to runc. */
async function deleteContainer(node: NodeNames, id: string): Promise<void> {
  await run("runc", ["--root", join(node.runcRoot, NAMESPACE), "delete", "--force", id]).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
  });
  await rm(join(node.runcRoot, NAMESPACE, id), { recursive: true, force: true });
}

/** Namespaces without processes: their Pods no longer need a network. */
async function removeNetworks(node: NodeNames, sinceMs: number): Promise<string[]> {
  const folder = join(node.stateDir, "io.containerd.grpc.v1.cri", "netns");
  const names = await olderThan(sinceMs, folder);
  if (names.length === 0) return [];
  const used = await networksInUse();
  const removed: string[] = [];
  for (const name of names) {
    const path = join(folder, name);
    if (used.has((await stat(path)).ino)) continue;
    await unmountBelow(path);
    await rm(path, { force: true });
    removed.push(`network namespace ${name}`);
  }
  return removed;
}

async function networksInUse(): Promise<Set<number>> {
  const pids = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry));
  const inodes = await Promise.all(
    pids.map((pid) =>
      stat(`/proc/${pid}/ns/net`).then(
        ({ ino }) => ino,
        () => 0, // it has just exited
      ),
    ),
  );
  return new Set(inodes);
}

/** Each assigned address has a file with its owner. */
async function freeAddresses(node: NodeNames, sinceMs: number, known: ReadonlySet<string>): Promise<string[]> {
  const folder = join(node.ipamDir, NETWORK);
  const removed: string[] = [];
  for (const name of await olderThan(sinceMs, folder)) {
    if (!/^[0-9a-f.:]+$/i.test(name)) continue;
    const [owner = ""] = (await readFile(join(folder, name), "utf8")).split(/\s/);
    if (known.has(owner)) continue;
    await rm(join(folder, name), { force: true });
    removed.push(`address ${name}`);
  }
  return removed;
}

async function olderThan(sinceMs: number, folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const older = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ ctimeMs }) => ctimeMs < sinceMs,
        () => false, // containerd has just removed it
      ),
    ),
  );
  return names.filter((_, at) => older[at] === true);
}
