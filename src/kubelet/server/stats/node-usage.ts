/** The usage of a whole node: of its cgroup if it has one, otherwise of the machine. */
import { readFile } from "node:fs/promises";
import { type Hierarchies, meminfo } from "../../host/index.ts";
import { type CgroupUsage, cgroupUsage } from "./cgroup-usage.ts";
import { parsePressures } from "./pressure.ts";

const NANOSECONDS_OF_TICK = 10_000_000;

export async function nodeUsage(hierarchies: Hierarchies, cgroupRoot: string): Promise<CgroupUsage> {
  const own = cgroupRoot === "/" || cgroupRoot === "" ? undefined : await cgroupUsage(hierarchies, cgroupRoot);
  if (own !== undefined) return own;
  const [stat, memory, vmstat, loadavg] = await Promise.all(
    ["/proc/stat", "/proc/meminfo", "/proc/vmstat", "/proc/loadavg"].map((file) => readFile(file, "utf8")),
  );
  const usage = machineUsage({ stat, memory, vmstat, loadavg });
  // As upstream, which reads pressures of cgroups of version 2 only.
  if (hierarchies.version !== 2) return usage;
  const [cpu, ofMemory, io] = await Promise.all(["cpu", "memory", "io"].map(pressureOf));
  const pressures = parsePressures({ cpu, memory: ofMemory, io });
  return pressures === undefined ? usage : { ...usage, pressures };
}

/** Undefined on kernels without PSI, and on those that were started with it switched off. */
async function pressureOf(resource: string): Promise<string | undefined> {
  return readFile(`/proc/pressure/${resource}`, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "EOPNOTSUPP") return undefined;
    throw error;
  });
}

interface ProcFiles {
  readonly stat?: string | undefined;
  readonly memory?: string | undefined;
  readonly vmstat?: string | undefined;
  readonly loadavg?: string | undefined;
}

export function machineUsage({ stat = "", memory = "", vmstat = "", loadavg = "" }: ProcFiles): CgroupUsage {
  // user, nice, system, idle, iowait, irq, softirq, steal: all but idle and iowait.
  const ticks = (/^cpu +(.*)$/m.exec(stat)?.[1] ?? "").split(" ").map(Number);
  const busy = [0, 1, 2, 5, 6, 7].reduce((sum, index) => sum + (ticks[index] ?? 0), 0);
  const total = meminfo(memory, "MemTotal");
  const swapFree = meminfo(memory, "SwapFree");
  const count = (name: string) => Number(new RegExp(`^${name} (\\d+)`, "m").exec(vmstat)?.[1] ?? 0);
  return {
    cpuNanoSeconds: busy * NANOSECONDS_OF_TICK,
    memoryUsageBytes: total - meminfo(memory, "MemFree"),
    memoryWorkingSetBytes: Math.max(0, total - meminfo(memory, "MemAvailable")),
    memoryRssBytes: meminfo(memory, "AnonPages"),
    pageFaults: count("pgfault"),
    majorPageFaults: count("pgmajfault"),
    processes: Number(/\/(\d+)/.exec(loadavg)?.[1] ?? 0),
    swapBytes: meminfo(memory, "SwapTotal") - swapFree,
    swapAvailableBytes: swapFree,
  };
}
