/** From resources to files of cgroups, of both versions. Pure. */
import { pageSizeText } from "../containers/index.ts";
import type { LinuxResources } from "../runtime/runtime.ts";

export interface CgroupLimits extends LinuxResources {
  /** Not above 0: it is left as it is; a node may have no such controller. */
  readonly pids?: number | undefined;
  /** Bytes of huge pages by their size in KiB. */
  readonly hugePages?: ReadonlyMap<number, number> | undefined;
}

/** Controller, file and value. */
export type CgroupFile = readonly [controller: string, file: string, value: string];

/** The limits of a Pod: what it does not name has none. */
export function cgroupFiles(version: 1 | 2, limits: CgroupLimits): readonly CgroupFile[] {
  const { cpuShares = 2, cpuQuota, cpuPeriod = 100_000, memoryLimitBytes, unified = {} } = limits;
  const more = [...countedFiles(version, limits)];
  if (version === 2)
    return [
      ["all", "cpu.weight", String(cpuWeight(cpuShares))],
      ["all", "cpu.max", `${cpuQuota ?? "max"} ${cpuPeriod}`],
      ["all", "memory.max", String(memoryLimitBytes ?? "max")],
      ...Object.entries(unified).map(([file, value]): CgroupFile => ["all", file, value]),
      ...more,
    ];
  return [
    ["cpu", "cpu.shares", String(cpuShares)],
    ["cpu", "cpu.cfs_period_us", String(cpuPeriod)],
    ["cpu", "cpu.cfs_quota_us", String(cpuQuota ?? -1)],
    ["memory", "memory.limit_in_bytes", String(memoryLimitBytes ?? -1)],
    ...more,
  ];
}

/** The limits of a group of Pods or of the system: what they do not name is left as it is. */
export function groupFiles(version: 1 | 2, limits: CgroupLimits): readonly CgroupFile[] {
  const { cpuShares, memoryLimitBytes, unified = {} } = limits;
  const two = version === 2;
  const files: CgroupFile[] = [];
  if (cpuShares !== undefined)
    files.push(two ? ["all", "cpu.weight", String(cpuWeight(cpuShares))] : ["cpu", "cpu.shares", String(cpuShares)]);
  if (memoryLimitBytes !== undefined)
    files.push(
      two
        ? ["all", "memory.max", String(memoryLimitBytes)]
        : ["memory", "memory.limit_in_bytes", String(memoryLimitBytes)],
    );
  if (two) for (const [file, value] of Object.entries(unified)) files.push(["all", file, value]);
  return [...files, ...countedFiles(version, limits)];
}

/** From 2…262144 to 1…10000. */
export function cpuWeight(shares: number): number {
  return Math.floor(1 + ((shares - 2) * 9999) / 262_142);
}

function countedFiles(version: 1 | 2, { pids = 0, hugePages = new Map() }: CgroupLimits): readonly CgroupFile[] {
  const huge = [...hugePages].map(([kib, bytes]): CgroupFile => {
    const size = pageSizeText(kib);
    return version === 2
      ? ["all", `hugetlb.${size}.max`, String(bytes)]
      : ["hugetlb", `hugetlb.${size}.limit_in_bytes`, String(bytes)];
  });
  const processes: readonly CgroupFile[] = pids > 0 ? [[version === 2 ? "all" : "pids", "pids.max", String(pids)]] : [];
  return [...processes, ...huge];
}
