/**
 * The files of a cgroup, v1 and v2, and what they say. Pure: from the texts of files to figures.
 *
 * 1. A figure that the kernel does not have is absent, never 0.
 * 2. Few files are read for every summary (`USAGE_FILES`); the others only for cAdvisor's metrics (`DETAIL_FILES`).
 */
import { type DeviceIo, parseBlkio, parseIoStat } from "./disk-io.ts";
import { type Pressures, parsePressures } from "./pressure.ts";

export type CgroupVersion = 1 | 2;
/** Controller and name. Version 2 has one hierarchy: `all`. */
export type CgroupFile = readonly [controller: string, name: string];
/** Texts by the names of files. Files that do not exist are missing. */
export type FileTexts = ReadonlyMap<string, string>;

export interface CgroupUsage {
  readonly cpuNanoSeconds: number;
  readonly memoryUsageBytes: number;
  /** The working set: usage without inactive file cache. */
  readonly memoryWorkingSetBytes: number;
  readonly memoryRssBytes: number;
  readonly pageFaults: number;
  readonly majorPageFaults: number;
  /** Threads count, too, as in pids.current. */
  readonly processes: number;
  readonly swapBytes?: number | undefined;
  /** What of its limit is left. */
  readonly swapAvailableBytes?: number | undefined;
  readonly pressures?: Pressures | undefined;
}

export interface CgroupDetails {
  readonly cpuUserNanoSeconds?: number | undefined;
  readonly cpuSystemNanoSeconds?: number | undefined;
  readonly periods?: number | undefined;
  readonly throttledPeriods?: number | undefined;
  readonly throttledNanoSeconds?: number | undefined;
  readonly memoryMaxUsageBytes?: number | undefined;
  readonly memoryCacheBytes?: number | undefined;
  readonly memoryMappedFileBytes?: number | undefined;
  readonly memoryKernelBytes?: number | undefined;
  readonly memoryActiveFileBytes?: number | undefined;
  readonly memoryInactiveFileBytes?: number | undefined;
  readonly memoryFailures?: number | undefined;
  /** Of the cgroup itself, without those below it. */
  readonly ownPageFaults?: number | undefined;
  readonly ownMajorPageFaults?: number | undefined;
  readonly oomKills?: number | undefined;
  readonly io: readonly DeviceIo[];
  readonly pids: readonly number[];
  readonly limits: CgroupLimits;
}

/** Absent: no limit. */
export interface CgroupLimits {
  readonly cpuShares?: number | undefined;
  readonly cpuQuotaUs?: number | undefined;
  readonly cpuPeriodUs?: number | undefined;
  readonly memoryBytes?: number | undefined;
  readonly memoryReservationBytes?: number | undefined;
  readonly swapBytes?: number | undefined;
  readonly processes?: number | undefined;
}

const unified = (...names: readonly string[]): readonly CgroupFile[] => names.map((name) => ["all", name]);

export const USAGE_FILES: Readonly<Record<CgroupVersion, readonly CgroupFile[]>> = {
  1: [
    ["cpuacct", "cpuacct.usage"],
    ["memory", "memory.usage_in_bytes"],
    ["memory", "memory.stat"],
    ["pids", "pids.current"],
  ],
  2: unified(
    "cpu.stat",
    "memory.current",
    "memory.stat",
    "memory.swap.current",
    "memory.swap.max",
    "pids.current",
    "cpu.pressure",
    "memory.pressure",
    "io.pressure",
  ),
};

export const DETAIL_FILES: Readonly<Record<CgroupVersion, readonly CgroupFile[]>> = {
  1: [
    ["cpuacct", "cpuacct.usage_user"],
    ["cpuacct", "cpuacct.usage_sys"],
    ["cpu", "cpu.stat"],
    ["cpu", "cpu.shares"],
    ["cpu", "cpu.cfs_quota_us"],
    ["cpu", "cpu.cfs_period_us"],
    ["memory", "memory.stat"],
    ["memory", "memory.max_usage_in_bytes"],
    ["memory", "memory.failcnt"],
    ["memory", "memory.kmem.usage_in_bytes"],
    ["memory", "memory.oom_control"],
    ["memory", "memory.limit_in_bytes"],
    ["memory", "memory.soft_limit_in_bytes"],
    ["memory", "memory.memsw.limit_in_bytes"],
    ["memory", "cgroup.procs"],
    ["pids", "pids.max"],
    ["blkio", "blkio.throttle.io_service_bytes_recursive"],
    ["blkio", "blkio.throttle.io_serviced_recursive"],
  ],
  2: unified(
    "cpu.stat",
    "cpu.weight",
    "cpu.max",
    "memory.stat",
    "memory.peak",
    "memory.events",
    "memory.max",
    "memory.low",
    "memory.swap.max",
    "cgroup.procs",
    "pids.max",
    "io.stat",
  ),
};

/** Undefined if there is no such cgroup. */
export function cgroupUsageOf(version: CgroupVersion, texts: FileTexts): CgroupUsage | undefined {
  const memory = table(texts.get("memory.stat"));
  const [usageFile, prefix] = version === 1 ? ["memory.usage_in_bytes", "total_"] : ["memory.current", ""];
  const cpuNanoSeconds = version === 1 ? number(texts, "cpuacct.usage") : micros(table(texts.get("cpu.stat")), "usage");
  const used = number(texts, usageFile);
  if (cpuNanoSeconds === undefined || used === undefined) return undefined;
  const swapBytes = version === 1 ? memory.get("total_swap") : number(texts, "memory.swap.current");
  const swapLimit = version === 1 ? undefined : number(texts, "memory.swap.max");
  return {
    cpuNanoSeconds,
    memoryUsageBytes: used,
    memoryWorkingSetBytes: Math.max(0, used - (memory.get(`${prefix}inactive_file`) ?? 0)),
    memoryRssBytes: memory.get(version === 1 ? "total_rss" : "anon") ?? 0,
    pageFaults: memory.get(`${prefix}pgfault`) ?? 0,
    majorPageFaults: memory.get(`${prefix}pgmajfault`) ?? 0,
    processes: number(texts, "pids.current") ?? 0,
    ...(swapBytes !== undefined && { swapBytes }),
    ...(swapBytes !== undefined &&
      swapLimit !== undefined && { swapAvailableBytes: Math.max(0, swapLimit - swapBytes) }),
    ...(version === 2 && pressuresIn(texts)),
  };
}

export function cgroupDetailsOf(version: CgroupVersion, texts: FileTexts): CgroupDetails {
  const pids = (texts.get("cgroup.procs") ?? "").split("\n").filter(Boolean).map(Number);
  return { ...(version === 1 ? version1(texts) : version2(texts)), pids };
}

function version1(texts: FileTexts): Omit<CgroupDetails, "pids"> {
  const memory = table(texts.get("memory.stat"));
  const cpu = table(texts.get("cpu.stat"));
  const [memoryBytes, withSwap] = [bound(texts, "memory.limit_in_bytes"), bound(texts, "memory.memsw.limit_in_bytes")];
  const quota = number(texts, "cpu.cfs_quota_us");
  return {
    cpuUserNanoSeconds: number(texts, "cpuacct.usage_user"),
    cpuSystemNanoSeconds: number(texts, "cpuacct.usage_sys"),
    periods: cpu.get("nr_periods"),
    throttledPeriods: cpu.get("nr_throttled"),
    throttledNanoSeconds: cpu.get("throttled_time"),
    memoryMaxUsageBytes: number(texts, "memory.max_usage_in_bytes"),
    memoryCacheBytes: memory.get("total_cache"),
    memoryMappedFileBytes: memory.get("total_mapped_file"),
    memoryKernelBytes: number(texts, "memory.kmem.usage_in_bytes"),
    memoryActiveFileBytes: memory.get("total_active_file"),
    memoryInactiveFileBytes: memory.get("total_inactive_file"),
    memoryFailures: number(texts, "memory.failcnt"),
    ownPageFaults: memory.get("pgfault"),
    ownMajorPageFaults: memory.get("pgmajfault"),
    oomKills: table(texts.get("memory.oom_control")).get("oom_kill"),
    io: parseBlkio(
      texts.get("blkio.throttle.io_service_bytes_recursive") ?? "",
      texts.get("blkio.throttle.io_serviced_recursive") ?? "",
    ),
    limits: {
      cpuShares: number(texts, "cpu.shares"),
      cpuQuotaUs: quota !== undefined && quota > 0 ? quota : undefined,
      cpuPeriodUs: number(texts, "cpu.cfs_period_us"),
      memoryBytes,
      memoryReservationBytes: bound(texts, "memory.soft_limit_in_bytes"),
      swapBytes: withSwap,
      processes: number(texts, "pids.max"),
    },
  };
}

function version2(texts: FileTexts): Omit<CgroupDetails, "pids"> {
  const memory = table(texts.get("memory.stat"));
  const cpu = table(texts.get("cpu.stat"));
  const events = table(texts.get("memory.events"));
  const [quota = "", period = ""] = (texts.get("cpu.max") ?? "").trim().split(" ");
  const weight = number(texts, "cpu.weight");
  return {
    cpuUserNanoSeconds: micros(cpu, "user"),
    cpuSystemNanoSeconds: micros(cpu, "system"),
    periods: cpu.get("nr_periods"),
    throttledPeriods: cpu.get("nr_throttled"),
    throttledNanoSeconds: micros(cpu, "throttled"),
    memoryMaxUsageBytes: number(texts, "memory.peak"),
    memoryCacheBytes: memory.get("file"),
    memoryMappedFileBytes: memory.get("file_mapped"),
    memoryKernelBytes: memory.get("kernel"),
    memoryActiveFileBytes: memory.get("active_file"),
    memoryInactiveFileBytes: memory.get("inactive_file"),
    memoryFailures: events.get("max"),
    // Version 2 counts with those below it only.
    ownPageFaults: memory.get("pgfault"),
    ownMajorPageFaults: memory.get("pgmajfault"),
    oomKills: events.get("oom_kill"),
    io: parseIoStat(texts.get("io.stat") ?? ""),
    limits: {
      cpuShares: weight === undefined ? undefined : sharesOf(weight),
      cpuQuotaUs: quota === "" || quota === "max" ? undefined : Number(quota),
      cpuPeriodUs: period === "" ? undefined : Number(period),
      memoryBytes: bound(texts, "memory.max"),
      memoryReservationBytes: bound(texts, "memory.low"),
      swapBytes: bound(texts, "memory.swap.max"),
      processes: number(texts, "pids.max"),
    },
  };
}

/** The inverse of how runtimes make weights from shares. */
function sharesOf(weight: number): number {
  return Math.floor(2 + ((weight - 1) * 262_142) / 9999);
}

function pressuresIn(texts: FileTexts): { readonly pressures?: Pressures } {
  const pressures = parsePressures({
    cpu: texts.get("cpu.pressure"),
    memory: texts.get("memory.pressure"),
    io: texts.get("io.pressure"),
  });
  return pressures === undefined ? {} : { pressures };
}

/** Undefined for a missing file and for `max`. */
function number(texts: FileTexts, name: string): number | undefined {
  const text = texts.get(name)?.trim();
  return text === undefined || text === "" || text === "max" ? undefined : Number(text);
}

/** Version 1 writes the largest page-aligned number for no limit. */
const UNLIMITED = 2 ** 62;

function bound(texts: FileTexts, name: string): number | undefined {
  const value = number(texts, name);
  return value === undefined || value >= UNLIMITED ? undefined : value;
}

function micros(stat: ReadonlyMap<string, number>, name: string): number | undefined {
  const value = stat.get(`${name}_usec`);
  return value === undefined ? undefined : value * 1000;
}

/** Parses lines of `name value`. */
function table(text = ""): ReadonlyMap<string, number> {
  const rows = text.split("\n").map((line) => line.split(" "));
  return new Map(rows.flatMap(([name = "", value]) => (value === undefined ? [] : [[name, Number(value)] as const])));
}
