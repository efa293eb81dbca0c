/** GET /stats/summary: the usage of a node and its Pods. */
import type { InterfaceUsage } from "./network.ts";
import type { ContainerMeasure, NodeStats, PodMeasure } from "./node-stats.ts";

export function summary(nodeName: string, stats: NodeStats, bootMs: number): object {
  const { atMs, usage, nanoCores, machine, images, disk, network, pods } = stats;
  const time = timeText(atMs);
  const imageBytes = images.reduce((sum, { usedBytes }) => sum + usedBytes, 0);
  return {
    node: {
      nodeName,
      startTime: timeText(bootMs),
      cpu: cpu(time, nanoCores, usage.cpuNanoSeconds),
      memory: {
        time,
        availableBytes: machine.memoryAvailableBytes,
        usageBytes: usage.memoryUsageBytes,
        workingSetBytes: usage.memoryWorkingSetBytes,
        rssBytes: usage.memoryRssBytes,
        pageFaults: usage.pageFaults,
        majorPageFaults: usage.majorPageFaults,
      },
      network: networkOf(time, network),
      fs: filesystem(time, stats, disk.capacityBytes - disk.availableBytes),
      runtime: { imageFs: filesystem(time, stats, imageBytes) },
      rlimit: { time, maxpid: machine.maxProcesses, curproc: machine.processes },
    },
    pods: pods.filter(({ containers }) => containers.length > 0).map((pod) => podSummary(pod, stats)),
  };
}

function podSummary({ pod, containers, usage, nanoCores, startedAtMs, network }: PodMeasure, stats: NodeStats): object {
  const { name, namespace, uid } = pod.metadata;
  const time = timeText(stats.atMs);
  const sum = (read: (each: ContainerMeasure) => number) => containers.reduce((all, each) => all + read(each), 0);
  const ephemeral = sum((each) => each.stats.writableLayerBytes + each.logBytes);
  return {
    podRef: { name, namespace, uid },
    startTime: timeText(startedAtMs),
    containers: containers.map((each) => containerSummary(each, stats)),
    cpu: cpu(time, nanoCores, usage?.cpuNanoSeconds ?? sum((each) => each.stats.cpuCoreNanoSeconds)),
    memory: {
      time,
      usageBytes: usage?.memoryUsageBytes ?? sum((each) => each.stats.memoryUsageBytes),
      workingSetBytes: usage?.memoryWorkingSetBytes ?? sum((each) => each.stats.memoryWorkingSetBytes),
      rssBytes: usage?.memoryRssBytes ?? sum((each) => each.stats.memoryRssBytes),
      pageFaults: usage?.pageFaults ?? 0,
      majorPageFaults: usage?.majorPageFaults ?? 0,
    },
    ...(network.length > 0 && { network: networkOf(time, network) }),
    "ephemeral-storage": filesystem(time, stats, ephemeral),
    ...(usage !== undefined && { process_stats: { process_count: usage.processes } }),
  };
}

function containerSummary({ name, container, stats, nanoCores, logBytes }: ContainerMeasure, node: NodeStats): object {
  const time = timeText(stats.timestampMs || node.atMs);
  return {
    name,
    startTime: timeText(container.createdAtMs),
    cpu: cpu(time, nanoCores, stats.cpuCoreNanoSeconds),
    memory: {
      time,
      usageBytes: stats.memoryUsageBytes,
      workingSetBytes: stats.memoryWorkingSetBytes,
      rssBytes: stats.memoryRssBytes,
    },
    rootfs: { ...filesystem(time, node, stats.writableLayerBytes), inodesUsed: stats.writableLayerInodes },
    logs: filesystem(time, node, logBytes),
  };
}

function cpu(time: string, usageNanoCores: number | undefined, usageCoreNanoSeconds: number): object {
  return { time, ...(usageNanoCores !== undefined && { usageNanoCores }), usageCoreNanoSeconds };
}

function filesystem(time: string, { disk }: NodeStats, usedBytes: number): object {
  const { availableBytes, capacityBytes, inodes, inodesFree } = disk;
  return { time, availableBytes, capacityBytes, usedBytes, inodesFree, inodes, inodesUsed: inodes - inodesFree };
}

function networkOf(time: string, interfaces: readonly InterfaceUsage[]): object {
  const shown = interfaces.map(({ name, rxBytes, rxErrors, txBytes, txErrors }) => ({
    name,
    rxBytes,
    rxErrors,
    txBytes,
    txErrors,
  }));
  return { time, ...shown[0], interfaces: shown };
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
