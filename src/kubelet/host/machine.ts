/** Properties of the machine, read once at the start, and its current usage. */

import type { StatsFs } from "node:fs";
import { readdir, readFile, statfs } from "node:fs/promises";
import { arch, availableParallelism, hostname, release } from "node:os";
import { table } from "#base";
import { parseResolver, type Resolver } from "../containers/index.ts";

export interface Machine {
  readonly hostname: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  /** As in GOARCH. */
  readonly architecture: string;
  readonly resolver: Resolver;
  /** Default: none. */
  readonly swapBytes?: number | undefined;
  /** Huge pages by their size in KiB. */
  readonly hugePages?: ReadonlyMap<number, number> | undefined;
}

export interface DiskFree {
  readonly diskAvailableBytes: number;
  readonly diskBytes: number;
  readonly inodesFree: number;
  readonly inodes: number;
}

export interface MachineUsage extends DiskFree {
  readonly memoryAvailableBytes: number;
  readonly memoryBytes: number;
  /** The file system of images. Undefined: it is the one of Pods. */
  readonly images?: DiskFree | undefined;
  readonly processes: number;
  readonly maxProcesses: number;
}

const ARCHITECTURES: Readonly<Record<string, string>> = table({ x64: "amd64", ia32: "386" });

export async function readMachine(rootDir: string, resolvConf: string): Promise<Machine> {
  const disk = await statfs(rootDir);
  const osRelease = await textOf("/etc/os-release");
  const bootId = (await textOf("/proc/sys/kernel/random/boot_id")).trim();
  const memory = await textOf("/proc/meminfo");
  const machineId = (await textOf("/etc/machine-id")).trim();
  return {
    hostname: hostname().toLowerCase(),
    cpus: availableParallelism(),
    memoryBytes: meminfo(memory, "MemTotal"),
    diskBytes: disk.blocks * disk.bsize,
    machineId,
    swapBytes: meminfo(memory, "SwapTotal"),
    hugePages: await readHugePages(),
    systemUuid: (await textOf("/sys/class/dmi/id/product_uuid")).trim().toLowerCase() || machineId,
    bootId,
    kernelVersion: release(),
    osImage: /^PRETTY_NAME="?([^"\n]*)"?/m.exec(osRelease)?.[1] ?? "Linux",
    architecture: ARCHITECTURES[arch()] ?? arch(),
    resolver: resolvConf === "" ? { servers: [], searches: [], options: [] } : parseResolver(await textOf(resolvConf)),
  };
}

async function readHugePages(): Promise<ReadonlyMap<number, number>> {
  const folder = "/sys/kernel/mm/hugepages";
  const names = await readdir(folder).catch(() => []);
  const found = names.map(async (name): Promise<readonly [number, number]> => {
    const count = Number((await textOf(`${folder}/${name}/nr_hugepages`)).trim() || 0);
    return [Number(/-(\d+)kB$/.exec(name)?.[1] ?? 0), count];
  });
  return new Map((await Promise.all(found)).sort(([a], [b]) => a - b));
}

/** The text of a file below /sys/devices/system, or the names in a folder; empty if there is neither. */
export async function readSysFile(path: string): Promise<string> {
  const full = `/sys/devices/system/${path}`;
  try {
    return await readFile(full, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EISDIR") return (await readdir(full)).join(" ");
    if (code === "ENOENT" || code === "EACCES") return "";
    throw error;
  }
}

/** `imageRoot`: where the runtime has its images; undefined if it is not known. */
export async function readUsage(rootDir: string, imageRoot?: string): Promise<MachineUsage> {
  const ofImages = imageRoot === undefined ? undefined : await statfs(imageRoot).catch(() => undefined);
  const [disk, memory, loadavg, pidMax] = await Promise.all([
    statfs(rootDir),
    textOf("/proc/meminfo"),
    textOf("/proc/loadavg"),
    textOf("/proc/sys/kernel/pid_max"),
  ]);
  return {
    memoryAvailableBytes: meminfo(memory, "MemAvailable"),
    memoryBytes: meminfo(memory, "MemTotal"),
    ...freeOf(disk),
    images: ofImages && freeOf(ofImages),
    processes: Number(/\/(\d+)/.exec(loadavg)?.[1] ?? 0),
    maxProcesses: Number(pidMax.trim() || 32_768),
  };
}

function freeOf({ bavail, bsize, blocks, ffree, files }: StatsFs): DiskFree {
  return { diskAvailableBytes: bavail * bsize, diskBytes: blocks * bsize, inodesFree: ffree, inodes: files };
}

export function meminfo(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0) * 1024;
}

/** Empty if there is no such file: not every machine has all of them. */
async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (["ENOENT", "EACCES", "ENODEV"].includes((error as NodeJS.ErrnoException).code ?? "")) return "";
    throw error;
  }
}
