/**
 * The cgroup of each Pod, the parent of its containers': created with the Pod's limits before its sandbox, removed
 * after its end.
 *
 * 1. cgroup v2 and v1 are both supported.
 * 2. Only an empty cgroup can be removed. Processes that are still in it after the Pod's end belong to a runtime that
 *    was killed: they are killed. Until they are gone the removal fails and is retried.
 */
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type core, qosClassOf } from "#api";
import type { Logger } from "#base";
import { podCgroup, podResources, qosCgroup } from "../containers/index.ts";
import type { LinuxResources } from "../runtime/runtime.ts";
import type { PodCgroups } from "./pod-host.ts";

export interface Hierarchies {
  readonly version: 1 | 2;
  /** Mount points by controller; for v2 only `all`. */
  readonly mounts: ReadonlyMap<string, string>;
  /** Every hierarchy in which a runtime creates cgroups: beside those of v1 there may be an empty v2 one. */
  readonly roots: readonly string[];
}

const QOS = ["Guaranteed", "Burstable", "BestEffort"] as const;

export async function readHierarchies(): Promise<Hierarchies> {
  return parseHierarchies(await readFile("/proc/self/mountinfo", "utf8"));
}

export function parseHierarchies(mountinfo: string): Hierarchies {
  const mounts = new Map<string, string>();
  let unified: string | undefined;
  for (const line of mountinfo.split("\n")) {
    const [before = "", after = ""] = line.split(" - ");
    const path = before.split(" ")[4] ?? "";
    const [type, , options = ""] = after.split(" ");
    if (type === "cgroup2") unified ??= path;
    if (type === "cgroup") for (const option of options.split(",")) if (option !== "rw") mounts.set(option, path);
  }
  const roots = [...new Set([...mounts.values(), ...(unified === undefined ? [] : [unified])])];
  if (mounts.has("memory") || unified === undefined) return { version: 1, mounts, roots };
  return { version: 2, mounts: new Map([["all", unified]]), roots };
}

export interface PodCgroupsOptions {
  readonly cgroupRoot: string;
  /** The most processes of a Pod. Not above 0: no limit. */
  readonly podPidsLimit: number;
  readonly log: Pick<Logger, "warn">;
}

/** The controller, file and value of each limit. Pure. */
export function cgroupFiles(
  version: 1 | 2,
  resources: LinuxResources,
  pidsLimit = 0,
): readonly (readonly [string, string, string])[] {
  // Left as it is without a limit: a node may have no such controller.
  const pids = pidsLimit > 0 ? ([[version === 2 ? "all" : "pids", "pids.max", String(pidsLimit)]] as const) : [];
  const { cpuShares, cpuQuota, cpuPeriod = 100_000, memoryLimitBytes } = resources;
  if (version === 2) {
    const weight = Math.floor(1 + (((cpuShares ?? 2) - 2) * 9999) / 262_142);
    return [
      ["all", "cpu.weight", String(weight)],
      ["all", "cpu.max", `${cpuQuota ?? "max"} ${cpuPeriod}`],
      ["all", "memory.max", String(memoryLimitBytes ?? "max")],
      ...pids,
    ];
  }
  return [
    ["cpu", "cpu.shares", String(cpuShares ?? 2)],
    ["cpu", "cpu.cfs_period_us", String(cpuPeriod)],
    ["cpu", "cpu.cfs_quota_us", String(cpuQuota ?? -1)],
    ["memory", "memory.limit_in_bytes", String(memoryLimitBytes ?? -1)],
    ...pids,
  ];
}

export function hostCgroups(
  { version, mounts, roots }: Hierarchies,
  { cgroupRoot, podPidsLimit, log }: PodCgroupsOptions,
): PodCgroups {
  if (podPidsLimit > 0 && version === 1 && !mounts.has("pids"))
    log.warn("the limit of processes of Pods is not enforced: this machine has no cgroup controller for it");
  const isPod = (name: string) => name.startsWith("pod");

  const make = async (controller: string, cgroup: string) => {
    const root = mounts.get(controller);
    if (root === undefined) return undefined;
    if (version === 2) await delegate(root, cgroup);
    await mkdir(join(root, cgroup), { recursive: true });
    return join(root, cgroup);
  };
  const apply = async (cgroup: string, resources: LinuxResources, pidsLimit = 0) => {
    for (const [controller, file, value] of cgroupFiles(version, resources, pidsLimit)) {
      const directory = await make(controller, cgroup);
      if (directory !== undefined) await writeFile(join(directory, file), value);
    }
  };

  return {
    async ensure(pod: core.Pod) {
      try {
        // BestEffort Pods together get the smallest share.
        if (qosClassOf(pod) === "BestEffort") await apply(qosCgroup(cgroupRoot, "BestEffort"), { cpuShares: 2 });
        await apply(podCgroup(cgroupRoot, pod), podResources(pod), podPidsLimit);
      } catch (error) {
        // The runtime creates missing cgroups; only the Pod's own limits are not enforced then.
        log.warn("pod cgroup could not be set up", { pod: pod.metadata.name, error });
      }
    },
    async remove(uid) {
      const found = roots.flatMap((root) => QOS.map((qos) => join(root, qosCgroup(cgroupRoot, qos), `pod${uid}`)));
      for (const directory of found) await endProcesses(directory);
      for (const directory of found) await removeTree(directory);
    },
    async podUids() {
      const found = await Promise.all(
        roots.flatMap((root) => QOS.map((qos) => directories(join(root, qosCgroup(cgroupRoot, qos))))),
      );
      return [...new Set(found.flat().filter(isPod))].map((name) => name.slice("pod".length));
    },
  };
}

/** A controller is available in a cgroup only if every cgroup above it delegates it. */
async function delegate(root: string, cgroup: string): Promise<void> {
  let directory = root;
  for (const part of ["", ...cgroup.split("/").filter(Boolean).slice(0, -1)]) {
    directory = join(directory, part);
    await mkdir(directory, { recursive: true });
    const able = (await readFile(join(directory, "cgroup.controllers"), "utf8")).trim().split(/\s+/);
    const wanted = ["cpu", "memory", "pids", "cpuset", "io"].filter((each) => able.includes(each));
    await writeFile(join(directory, "cgroup.subtree_control"), wanted.map((each) => `+${each}`).join(" "));
  }
}

async function endProcesses(directory: string): Promise<void> {
  for (const name of await directories(directory)) await endProcesses(join(directory, name));
  const pids = await readFile(join(directory, "cgroup.procs"), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENODEV") return "";
    throw error;
  });
  for (const pid of pids.split("\n").map(Number)) if (pid > 1 && pid !== process.pid) kill(pid);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    // It has exited meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

async function removeTree(directory: string): Promise<void> {
  for (const name of await directories(directory)) await removeTree(join(directory, name));
  await rmdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

async function directories(path: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
