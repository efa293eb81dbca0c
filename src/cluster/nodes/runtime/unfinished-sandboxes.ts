/**
 * Removes what a killed containerd had started and its successor does not know: shims with their processes, bundles,
 * mounts, network namespaces, addresses.
 *
 * 1. Touches only what existed before the new containerd started: the kubelet may already be creating Pods again.
 * 2. What containerd knows is left to the kubelet, which removes it through CRI.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, Logger } from "#base";
import type { Runtime } from "#kubelet";
import type { Place } from "../isolation/place.ts";
import { CommandError, run } from "../machine/command.ts";
import { unmountBelow } from "../machine/mounts.ts";
import { endProcess, type ProcessId, processArgs, startedBefore } from "../machine/processes.ts";
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

/** `names`: on the machine. */
export async function removeHalfMade(names: NodeNames, place: Place, options: HalfMadeOptions): Promise<void> {
  const { containerd, sinceMs, runtime, clock, log } = options;
  const { files: node } = place;
  const [sandboxes, containers, tasks] = await Promise.all([
    runtime.listPodSandboxes(),
    runtime.listContainers(),
    run("ctr", ["--address", names.socket, "--namespace", NAMESPACE, "tasks", "list", "--quiet"]),
  ]);
  const running = new Set(tasks.split("\n").filter(Boolean));
  // A shim is named after its sandbox and also holds the containers, which may survive it.
  const inUse = new Set(running);
  for (const { id, podSandboxId } of containers) if (running.has(id)) inUse.add(podSandboxId);
  const known = new Set([...inUse, ...sandboxes.map(({ id }) => id), ...containers.map(({ id }) => id)]);

  const removed: string[] = [];
  const remove = (path: string) => place.run("rm", ["-rf", path]);
  for (const shim of await place.processes(isShimOf(node))) {
    const id = argumentOf(await processArgs(shim.pid), "-id");
    if (id === undefined || inUse.has(id) || !startedBefore(shim, containerd)) continue;
    await deleteContainer(place, id);
    await endProcess(shim, 0, clock);
    await remove(shimSocket(node, id));
    removed.push(`shim ${id}`);
  }
  const bundles = join(node.stateDir, "io.containerd.runtime.v2.task", NAMESPACE);
  for (const id of await olderThan(place, sinceMs, bundles)) {
    if (inUse.has(id)) continue;
    await deleteContainer(place, id);
    await unmountBelow(join(bundles, id), place);
    await remove(join(bundles, id));
    removed.push(`bundle ${id}`);
  }
  for (const id of await olderThan(place, sinceMs, join(node.runcRoot, NAMESPACE))) {
    if (running.has(id)) continue;
    await deleteContainer(place, id);
    removed.push(`container ${id}`);
  }
  const folders = join(node.stateDir, "io.containerd.grpc.v1.cri", "sandboxes");
  for (const id of await olderThan(place, sinceMs, folders)) {
    if (known.has(id)) continue;
    await unmountBelow(join(folders, id), place);
    await remove(join(folders, id));
    removed.push(`sandbox ${id}`);
  }
  removed.push(...(await removeNetworks(place, sinceMs)));
  removed.push(...(await freeAddresses(place, sinceMs, known)));
  if (removed.length > 0) log.info("leftovers of a killed containerd were removed", { node: node.name, removed });
}

/** With all its processes. An unfinished one is unknown to runc. */
async function deleteContainer(place: Place, id: string): Promise<void> {
  const root = join(place.files.runcRoot, NAMESPACE);
  await place.run("runc", ["--root", root, "delete", "--force", id]).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
  });
  await place.run("rm", ["-rf", join(root, id)]);
}

/** Namespaces without processes: their Pods no longer need a network. */
async function removeNetworks(place: Place, sinceMs: number): Promise<string[]> {
  const folder = join(place.files.stateDir, "io.containerd.grpc.v1.cri", "netns");
  const names = await olderThan(place, sinceMs, folder);
  if (names.length === 0) return [];
  const used = await networksInUse();
  const removed: string[] = [];
  for (const name of names) {
    const path = join(folder, name);
    if (used.has(Number(await place.run("stat", ["-c", "%i", path])))) continue;
    await unmountBelow(path, place);
    await place.run("rm", ["-f", path]);
    removed.push(`network namespace ${name}`);
  }
  return removed;
}

/** On the whole machine: numbers of namespaces are the same everywhere. */
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
async function freeAddresses(place: Place, sinceMs: number, known: ReadonlySet<string>): Promise<string[]> {
  const folder = join(place.files.ipamDir, NETWORK);
  const removed: string[] = [];
  for (const name of await olderThan(place, sinceMs, folder)) {
    if (!/^[0-9a-f.:]+$/i.test(name)) continue;
    const [owner = ""] = (await place.run("cat", [join(folder, name)])).split(/\s/);
    if (known.has(owner)) continue;
    await place.run("rm", ["-f", join(folder, name)]);
    removed.push(`address ${name}`);
  }
  return removed;
}

/** containerd may have removed the folder, or entries while they are listed. */
const LIST = 'test -d "$1" || exit 0; find "$1" -mindepth 1 -maxdepth 1 -printf "%C@ %f\\n" || true';

async function olderThan(place: Place, sinceMs: number, folder: string): Promise<string[]> {
  const lines = (await place.run("sh", ["-c", LIST, "sh", folder])).split("\n").filter(Boolean);
  return lines.flatMap((line) => {
    const [seconds = "", ...name] = line.split(" ");
    return Number(seconds) * 1000 < sinceMs ? [name.join(" ")] : [];
  });
}
