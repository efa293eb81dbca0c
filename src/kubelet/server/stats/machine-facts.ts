/** What the machine has, for /metrics/cadvisor: read once. */
import { readFile } from "node:fs/promises";
import type { CgroupPlace } from "../../containers/index.ts";
import { meminfo, readMachine } from "../../host/index.ts";
import type { MachineFacts } from "./cadvisor-metrics.ts";

export async function machineFacts(rootDir: string, cgroupRoot: CgroupPlace): Promise<MachineFacts> {
  const [machine, memory, cpus] = await Promise.all([
    readMachine(rootDir, ""),
    readFile("/proc/meminfo", "utf8"),
    readFile("/proc/cpuinfo", "utf8"),
  ]);
  const { bootId, machineId, systemUuid, kernelVersion, osImage, memoryBytes } = machine;
  return {
    cpus: machine.cpus,
    ...parseCpuinfo(cpus),
    memoryBytes,
    swapBytes: meminfo(memory, "SwapTotal"),
    cgroupRoot,
    bootId,
    machineId,
    systemUuid,
    kernelVersion,
    osImage,
  };
}

/** Absent where the kernel does not say, as on some virtual machines and on ARM. */
export function parseCpuinfo(text: string): { readonly physicalCores?: number; readonly sockets?: number } {
  const [sockets, cores] = [new Set<string>(), new Set<string>()];
  for (const cpu of text.split("\n\n")) {
    const socket = /^physical id\s*: (\d+)$/m.exec(cpu)?.[1];
    const core = /^core id\s*: (\d+)$/m.exec(cpu)?.[1];
    if (socket === undefined) continue;
    sockets.add(socket);
    if (core !== undefined) cores.add(`${socket} ${core}`);
  }
  return {
    ...(sockets.size > 0 && { sockets: sockets.size }),
    ...(cores.size > 0 && { physicalCores: cores.size }),
  };
}
