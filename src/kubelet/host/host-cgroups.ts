/**
 * The cgroup of each Pod, the parent of its containers': created with the Pod's limits before its sandbox, removed
 * after its end.
 *
 * 1. cgroup v2 and v1 are both supported.
 * 2. QoS classes share CPUs by what their Pods ask for; Pods together are limited to what the node allocates.
 * 3. Only an empty cgroup can be removed. Processes that are still in it after the Pod's end belong to a runtime that
 *    was killed: they are killed. Until they are gone the removal fails and is retried.
 */
import { access, mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type core, podLimits, podRequests, qosClassOf, scaledValue } from "#api";
import type { Logger } from "#base";
import {
  type CgroupLayout,
  cpuShares,
  podCgroup,
  podCgroupOf,
  podResources,
  podUidOf,
  qosCgroup,
  type ResourceRules,
} from "../containers/index.ts";
import { hugePageResource } from "../topology/index.ts";
import { type CgroupFile, cgroupFiles, groupFiles } from "./cgroup-files.ts";
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
  readonly layout: CgroupLayout;
  /** The most processes of a Pod. Not above 0: no limit. */
  readonly podPidsLimit: number;
  readonly rules: ResourceRules;
  /** Creates a slice and those above it: the driver systemd. */
  readonly makeSlice?: ((path: string) => Promise<void>) | undefined;
  readonly log: Pick<Logger, "warn">;
}

export function hostCgroups(
  { version, mounts, roots }: Hierarchies,
  { layout, podPidsLimit, rules, makeSlice, log }: PodCgroupsOptions,
): PodCgroups {
  if (podPidsLimit > 0 && version === 1 && !mounts.has("pids"))
    log.warn("the limit of processes of Pods is not enforced: this machine has no cgroup controller for it");
  const burstable = new Map<string, core.Pod>();
  const made = new Set<string>();

  const make = async (controller: string, cgroup: string) => {
    const root = mounts.get(controller);
    if (root === undefined) return undefined;
    if (makeSlice !== undefined && cgroup.endsWith(".slice") && !made.has(cgroup)) {
      await makeSlice(cgroup);
      made.add(cgroup);
    }
    if (version === 2) await delegate(root, cgroup);
    await mkdir(join(root, cgroup), { recursive: true });
    return join(root, cgroup);
  };
  const write = async (cgroup: string, files: readonly CgroupFile[]) => {
    for (const [controller, file, value] of files) {
      const directory = await make(controller, cgroup);
      if (directory !== undefined) await writeFile(join(directory, file), value);
    }
  };
  /** Burstable Pods together have the weight of what they ask for, BestEffort Pods the smallest. */
  const shareOut = async () => {
    if (!layout.perQos) return;
    const milli = [...burstable.values()].reduce((sum, pod) => sum + milliCpu(pod), 0);
    const protectedBytes = [...burstable.values()].reduce((sum, pod) => sum + memoryOf(pod), 0);
    const tiered = version === 2 && rules.memoryQos?.reservation === "TieredReservation";
    const unified = tiered ? { "memory.low": String(protectedBytes) } : {};
    await write(qosCgroup(layout, "BestEffort"), groupFiles(version, { cpuShares: 2 }));
    await write(qosCgroup(layout, "Burstable"), groupFiles(version, { cpuShares: cpuShares(milli), unified }));
  };

  return {
    async ensure(pod, hasExclusiveCpus) {
      try {
        if (qosClassOf(pod) === "Burstable") burstable.set(pod.metadata.uid ?? "", pod);
        await shareOut();
        const limits = { ...podResources(pod, { rules, hasExclusiveCpus }), pids: podPidsLimit };
        const hugePages = new Map(rules.hugePageKib.map((kib) => [kib, hugePagesOf(pod, kib)]));
        await write(podCgroup(layout, pod), cgroupFiles(version, { ...limits, hugePages }));
      } catch (error) {
        // The runtime creates missing cgroups; only the Pod's own limits are not enforced then.
        log.warn("pod cgroup could not be set up", { pod: pod.metadata.name, error });
      }
    },
    async remove(uid) {
      burstable.delete(uid);
      const found = roots.flatMap((root) => [...new Set(QOS.map((qos) => join(root, podCgroupOf(layout, qos, uid))))]);
      for (const directory of found) await endProcesses(directory);
      for (const directory of found) await removeTree(directory);
    },
    async podUids() {
      const parents = new Set(QOS.map((qos) => qosCgroup(layout, qos)));
      const found = await Promise.all(
        roots.flatMap((root) => [...parents].map((parent) => directories(join(root, parent)))),
      );
      return [...new Set(found.flat().flatMap((name) => podUidOf(layout, name) ?? []))];
    },
    async update(pods) {
      burstable.clear();
      for (const pod of pods) if (qosClassOf(pod) === "Burstable") burstable.set(pod.metadata.uid ?? "", pod);
      await shareOut();
    },
    async enforce({ pods, existing }) {
      if (pods !== undefined) await write(qosCgroup(layout, "Guaranteed"), groupFiles(version, pods));
      for (const { cgroup, limits, what } of existing) {
        const path = layout.driver === "systemd" ? cgroup : join("/", cgroup);
        const isThere = await access(join(mounts.get("memory") ?? mounts.get("all") ?? "", path)).then(
          () => true,
          () => false,
        );
        if (!isThere)
          throw new Error(
            `Failed to enforce ${what} Cgroup Limits on "${cgroup}": cgroup ["${cgroup}"] has some missing paths`,
          );
        await write(path, groupFiles(version, limits));
      }
    },
  };
}

function milliCpu(pod: core.Pod): number {
  const amount = podRequests(pod).cpu;
  return amount === undefined ? 0 : Number(scaledValue(amount, -3));
}

function memoryOf(pod: core.Pod): number {
  const amount = podRequests(pod).memory;
  return amount === undefined ? 0 : Number(scaledValue(amount, 0));
}

function hugePagesOf(pod: core.Pod, kib: number): number {
  const amount = podLimits(pod)[hugePageResource(kib)];
  return amount === undefined ? 0 : Number(scaledValue(amount, 0));
}

/** A controller is available in a cgroup only if every cgroup above it delegates it. */
async function delegate(root: string, cgroup: string): Promise<void> {
  let directory = root;
  for (const part of ["", ...cgroup.split("/").filter(Boolean).slice(0, -1)]) {
    directory = join(directory, part);
    await mkdir(directory, { recursive: true });
    const able = (await readFile(join(directory, "cgroup.controllers"), "utf8")).trim().split(/\s+/);
    const wanted = ["cpu", "memory", "pids", "cpuset", "io", "hugetlb"].filter((each) => able.includes(each));
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
