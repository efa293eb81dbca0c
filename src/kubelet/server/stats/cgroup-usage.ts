/** The usage of a cgroup, v1 or v2. Undefined if there is no such cgroup. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Hierarchies } from "../../host/index.ts";

export interface CgroupUsage {
  readonly cpuNanoSeconds: number;
  readonly memoryUsageBytes: number;
  /** The working set: usage without inactive file cache. */
  readonly memoryWorkingSetBytes: number;
  readonly memoryRssBytes: number;
  readonly pageFaults: number;
  readonly majorPageFaults: number;
  readonly processes: number;
}

export async function cgroupUsage(hierarchies: Hierarchies, cgroup: string): Promise<CgroupUsage | undefined> {
  try {
    return await (hierarchies.version === 2 ? version2 : version1)(hierarchies.mounts, cgroup);
  } catch (error) {
    if (["ENOENT", "ENODEV"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/** A process in the cgroup; undefined if there is none. */
export async function processIn({ version, mounts }: Hierarchies, cgroup: string): Promise<number | undefined> {
  try {
    const file = join(mounts.get(version === 2 ? "all" : "memory") ?? "", cgroup, "cgroup.procs");
    const [first = ""] = (await readFile(file, "utf8")).split("\n");
    return first === "" ? undefined : Number(first);
  } catch (error) {
    if (["ENOENT", "ENODEV"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

async function version1(mounts: Hierarchies["mounts"], cgroup: string): Promise<CgroupUsage> {
  const read = (controller: string, file: string) => readFile(join(mounts.get(controller) ?? "", cgroup, file), "utf8");
  const [cpu, usage, stat, processes] = await Promise.all([
    read("cpuacct", "cpuacct.usage"),
    read("memory", "memory.usage_in_bytes"),
    read("memory", "memory.stat"),
    mounts.has("pids") ? read("pids", "pids.current") : "0",
  ]);
  const memory = table(stat);
  const used = Number(usage);
  return {
    cpuNanoSeconds: Number(cpu),
    memoryUsageBytes: used,
    memoryWorkingSetBytes: Math.max(0, used - (memory.get("total_inactive_file") ?? 0)),
    memoryRssBytes: memory.get("total_rss") ?? 0,
    pageFaults: memory.get("total_pgfault") ?? 0,
    majorPageFaults: memory.get("total_pgmajfault") ?? 0,
    processes: Number(processes),
  };
}

async function version2(mounts: Hierarchies["mounts"], cgroup: string): Promise<CgroupUsage> {
  const read = (file: string) => readFile(join(mounts.get("all") ?? "", cgroup, file), "utf8");
  const files = ["cpu.stat", "memory.current", "memory.stat", "pids.current"].map(read);
  const [cpu = "", usage = "", stat = "", processes = ""] = await Promise.all(files);
  const memory = table(stat);
  const used = Number(usage);
  return {
    cpuNanoSeconds: (table(cpu).get("usage_usec") ?? 0) * 1000,
    memoryUsageBytes: used,
    memoryWorkingSetBytes: Math.max(0, used - (memory.get("inactive_file") ?? 0)),
    memoryRssBytes: memory.get("anon") ?? 0,
    pageFaults: memory.get("pgfault") ?? 0,
    majorPageFaults: memory.get("pgmajfault") ?? 0,
    processes: Number(processes),
  };
}

/** Parses lines of `name value`. */
function table(text: string): ReadonlyMap<string, number> {
  return new Map(
    text
      .trim()
      .split("\n")
      .map((line) => {
        const [name = "", value = "0"] = line.split(" ");
        return [name, Number(value)] as const;
      }),
  );
}
