/** Properties of the machine, read once at the start, and its current usage. */

import { readFile, statfs } from "node:fs/promises";
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
}

export interface MachineUsage {
  readonly memoryAvailableBytes: number;
  readonly memoryBytes: number;
  readonly diskAvailableBytes: number;
  readonly diskBytes: number;
  readonly inodesFree: number;
  readonly inodes: number;
  readonly processes: number;
  readonly maxProcesses: number;
}

const ARCHITECTURES: Readonly<Record<string, string>> = table({ x64: "amd64", ia32: "386" });

export async function readMachine(rootDir: string, resolvConf: string): Promise<Machine> {
  const disk = await statfs(rootDir);
  const osRelease = await textOf("/etc/os-release");
  const bootId = (await textOf("/proc/sys/kernel/random/boot_id")).trim();
  const machineId = (await textOf("/etc/machine-id")).trim();
  return {
    hostname: hostname().toLowerCase(),
    cpus: availableParallelism(),
    memoryBytes: meminfo(await textOf("/proc/meminfo"), "MemTotal"),
    diskBytes: disk.blocks * disk.bsize,
    machineId,
    systemUuid: (await textOf("/sys/class/dmi/id/product_uuid")).trim().toLowerCase() || machineId,
    bootId,
    kernelVersion: release(),
    osImage: /^PRETTY_NAME="?([^"\n]*)"?/m.exec(osRelease)?.[1] ?? "Linux",
    architecture: ARCHITECTURES[arch()] ?? arch(),
    resolver: resolvConf === "" ? { servers: [], searches: [], options: [] } : parseResolver(await textOf(resolvConf)),
  };
}

export async function readUsage(rootDir: string): Promise<MachineUsage> {
  const [disk, memory, loadavg, pidMax] = await Promise.all([
    statfs(rootDir),
    textOf("/proc/meminfo"),
    textOf("/proc/loadavg"),
    textOf("/proc/sys/kernel/pid_max"),
  ]);
  return {
    memoryAvailableBytes: meminfo(memory, "MemAvailable"),
    memoryBytes: meminfo(memory, "MemTotal"),
    diskAvailableBytes: disk.bavail * disk.bsize,
    diskBytes: disk.blocks * disk.bsize,
    inodesFree: disk.ffree,
    inodes: disk.files,
    processes: Number(/\/(\d+)/.exec(loadavg)?.[1] ?? 0),
    maxProcesses: Number(pidMax.trim() || 32_768),
  };
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
