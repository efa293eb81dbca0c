/**
 * GET /stats/summary: the usage of a node and its Pods. With `only_cpu_and_memory`, only that: what `kubectl top` and
 * autoscalers need.
 */
import type { VolumeUsage } from "../../volumes/index.ts";
import type { CgroupUsage } from "./cgroup-usage.ts";
import type { DiskUsage } from "./disks.ts";
import type { InterfaceUsage } from "./network.ts";
import type { ContainerMeasure, NodeStats, PodMeasure } from "./node-stats.ts";
import { pressureSummary } from "./pressure.ts";

export function summary(nodeName: string, stats: NodeStats, bootMs: number, isOnlyCpuAndMemory = false): object {
  const { atMs, usage, nanoCores, machine, images, disk, imageDisk, network, pods, kubepods } = stats;
  const time = timeText(atMs);
  const used = (read: (each: NodeStats["images"][number]) => number) =>
    images.reduce((sum, each) => sum + read(each), 0);
  const imageFs = filesystem(time, imageDisk, {
    bytes: used(({ usedBytes }) => usedBytes),
    inodes: used(({ inodesUsed }) => inodesUsed),
  });
  return {
    node: {
      nodeName,
      ...(kubepods !== undefined && {
        systemContainers: [
          {
            name: "pods",
            startTime: timeText(bootMs),
            ...cpuAndMemory(time, kubepods.usage, kubepods.nanoCores),
          },
        ],
      }),
      startTime: timeText(bootMs),
      ...cpuAndMemory(time, usage, nanoCores, { availableBytes: machine.memoryAvailableBytes }),
      ...(!isOnlyCpuAndMemory && {
        ...io(time, usage),
        network: networkOf(time, network),
        fs: filesystem(time, disk, {
          bytes: disk.capacityBytes - disk.availableBytes,
          inodes: disk.inodes - disk.inodesFree,
        }),
        // Images and writable layers are on one file system here.
        runtime: { imageFs, containerFs: imageFs },
        rlimit: { time, maxpid: machine.maxProcesses, curproc: machine.processes },
      }),
    },
    pods: pods
      .filter(({ containers }) => containers.length > 0)
      .map((pod) => podSummary(pod, stats, isOnlyCpuAndMemory)),
  };
}

function podSummary(measured: PodMeasure, stats: NodeStats, isOnlyCpuAndMemory: boolean): object {
  const { pod, containers, usage, nanoCores, startedAtMs, network, volumes } = measured;
  const { name, namespace, uid } = pod.metadata;
  const time = timeText(stats.atMs);
  const sum = (read: (each: ContainerMeasure) => number) => containers.reduce((all, each) => all + read(each), 0);
  const local = volumes.filter(({ isLocal }) => isLocal);
  const onDisk = (read: (each: VolumeUsage) => number | undefined) =>
    local.reduce((all, each) => all + (read(each) ?? 0), 0);
  const own = usage ?? {
    cpuNanoSeconds: sum((each) => each.stats.cpuCoreNanoSeconds),
    memoryUsageBytes: sum((each) => each.stats.memoryUsageBytes),
    memoryWorkingSetBytes: sum((each) => each.stats.memoryWorkingSetBytes),
    memoryRssBytes: sum((each) => each.stats.memoryRssBytes),
    pageFaults: 0,
    majorPageFaults: 0,
    processes: 0,
  };
  return {
    podRef: { name, namespace, uid },
    startTime: timeText(startedAtMs),
    containers: containers.map((each) => containerSummary(each, stats, isOnlyCpuAndMemory)),
    ...cpuAndMemory(time, own, nanoCores),
    ...(!isOnlyCpuAndMemory && {
      ...io(time, own),
      ...(network.length > 0 && { network: networkOf(time, network) }),
      ...(volumes.length > 0 && { volume: volumes.map(volumeSummary) }),
      "ephemeral-storage": filesystem(time, stats.disk, {
        bytes: sum((each) => each.stats.writableLayerBytes + each.logs.bytes) + onDisk((each) => each.usedBytes),
        inodes: sum((each) => each.stats.writableLayerInodes + each.logs.inodes) + onDisk((each) => each.inodesUsed),
      }),
      ...(usage !== undefined && { process_stats: { process_count: usage.processes } }),
    }),
  };
}

function containerSummary(measured: ContainerMeasure, node: NodeStats, isOnlyCpuAndMemory: boolean): object {
  const { name, container, stats, usage, nanoCores, logs } = measured;
  const time = timeText(stats.timestampMs || node.atMs);
  const { cpuCoreNanoSeconds, memoryUsageBytes, memoryWorkingSetBytes, memoryRssBytes } = stats;
  return {
    name,
    startTime: timeText(container.createdAtMs),
    cpu: { ...cpu(time, nanoCores, cpuCoreNanoSeconds), ...pressureSummary(usage?.pressures?.cpu) },
    memory: {
      time,
      usageBytes: memoryUsageBytes,
      workingSetBytes: memoryWorkingSetBytes,
      rssBytes: memoryRssBytes,
      ...(usage !== undefined && { pageFaults: usage.pageFaults, majorPageFaults: usage.majorPageFaults }),
      ...pressureSummary(usage?.pressures?.memory),
    },
    ...(usage !== undefined && swap(time, usage)),
    ...(!isOnlyCpuAndMemory && {
      ...(usage !== undefined && io(time, usage)),
      rootfs: filesystem(time, node.imageDisk, {
        bytes: stats.writableLayerBytes,
        inodes: stats.writableLayerInodes,
      }),
      logs: filesystem(time, node.disk, logs),
    }),
  };
}

function volumeSummary({ name, claim, atMs, abnormal, isLocal: _, message: __, ...figures }: VolumeUsage): object {
  return {
    time: timeText(atMs),
    ...figures,
    name,
    ...(claim !== undefined && { pvcRef: claim }),
    ...(abnormal !== undefined && { volumeHealthStats: { abnormal } }),
  };
}

function cpuAndMemory(
  time: string,
  usage: CgroupUsage,
  nanoCores: number | undefined,
  available: { readonly availableBytes?: number } = {},
): object {
  return {
    cpu: { ...cpu(time, nanoCores, usage.cpuNanoSeconds), ...pressureSummary(usage.pressures?.cpu) },
    memory: {
      time,
      ...available,
      usageBytes: usage.memoryUsageBytes,
      workingSetBytes: usage.memoryWorkingSetBytes,
      rssBytes: usage.memoryRssBytes,
      pageFaults: usage.pageFaults,
      majorPageFaults: usage.majorPageFaults,
      ...pressureSummary(usage.pressures?.memory),
    },
    ...swap(time, usage),
  };
}

function swap(time: string, { swapBytes, swapAvailableBytes }: CgroupUsage): object {
  if (swapBytes === undefined) return {};
  return { swap: { time, swapUsageBytes: swapBytes, ...(swapAvailableBytes !== undefined && { swapAvailableBytes }) } };
}

function io(time: string, { pressures }: CgroupUsage): object {
  return pressures?.io === undefined ? {} : { io: { time, ...pressureSummary(pressures.io) } };
}

function cpu(time: string, usageNanoCores: number | undefined, usageCoreNanoSeconds: number): object {
  return { time, ...(usageNanoCores !== undefined && { usageNanoCores }), usageCoreNanoSeconds };
}

function filesystem(time: string, disk: DiskUsage, used: { readonly bytes: number; readonly inodes: number }): object {
  const { availableBytes, capacityBytes, inodes, inodesFree } = disk;
  return { time, availableBytes, capacityBytes, usedBytes: used.bytes, inodesFree, inodes, inodesUsed: used.inodes };
}

/** The figures of `eth0`, as upstream, or of the first device; and of all. */
function networkOf(time: string, interfaces: readonly InterfaceUsage[]): object {
  const shown = interfaces.map(({ name, rxBytes, rxErrors, txBytes, txErrors }) => ({
    name,
    rxBytes,
    rxErrors,
    txBytes,
    txErrors,
  }));
  return { time, ...(shown.find(({ name }) => name === "eth0") ?? shown[0]), interfaces: shown };
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
