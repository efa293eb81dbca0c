/**
 * The rows of /metrics/cadvisor: a cgroup each, with its figures. The node, the cgroups of Pods together, each Pod, its
 * sandbox (which has the Pod's network), and each container.
 */
import { join } from "node:path";
import type { core } from "#api";
import { type CgroupPlace, cgroupRootOf, podCgroup, qosCgroup } from "../../containers/index.ts";
import type { Hierarchies } from "../../host/index.ts";
import {
  type CgroupDetails,
  type CgroupUsage,
  cgroupDetails,
  cgroupUsage,
  type OpenFiles,
  openFiles,
} from "./cgroup-usage.ts";
import type { DiskUsage } from "./disks.ts";
import type { InterfaceUsage } from "./network.ts";
import type { ContainerMeasure, NodeStats, PodMeasure } from "./node-stats.ts";

export interface CadvisorRow {
  readonly labels: RowLabels;
  readonly atMs: number;
  readonly usage?: CgroupUsage | undefined;
  readonly details?: CgroupDetails | undefined;
  readonly open?: OpenFiles | undefined;
  readonly startedAtMs?: number | undefined;
  readonly network: readonly InterfaceUsage[];
  /** What it uses of a file system, and that. */
  readonly disk?: { readonly usedBytes: number; readonly of: DiskUsage } | undefined;
}

export interface RowLabels extends Readonly<Record<string, string>> {
  readonly container: string;
  readonly id: string;
  readonly image: string;
  readonly name: string;
  readonly namespace: string;
  readonly pod: string;
}

const NOBODY: RowLabels = { container: "", id: "", image: "", name: "", namespace: "", pod: "" };

/** Where the figures that are not in the stats come from. Tests have their own. */
export interface CgroupReader {
  usage(cgroup: string): Promise<CgroupUsage | undefined>;
  details(cgroup: string): Promise<CgroupDetails>;
  open(pids: readonly number[]): Promise<OpenFiles>;
}

export function cgroupReader(hierarchies: Hierarchies): CgroupReader {
  return {
    usage: (cgroup) => cgroupUsage(hierarchies, cgroup),
    details: (cgroup) => cgroupDetails(hierarchies, cgroup),
    open: openFiles,
  };
}

export async function cadvisorRows(
  stats: NodeStats,
  cgroupRoot: CgroupPlace,
  reader: CgroupReader,
): Promise<readonly CadvisorRow[]> {
  const { atMs, usage, network, disk, pods, kubepods } = stats;
  const top = cgroupRootOf(cgroupRoot);
  const isMachine = top === "/" || top === "";
  const root: CadvisorRow = {
    labels: { ...NOBODY, id: "/" },
    atMs,
    usage,
    ...(!isMachine && { details: await reader.details(top) }),
    network,
    disk: { usedBytes: disk.capacityBytes - disk.availableBytes, of: disk },
  };
  const qos = await Promise.all(
    (["Guaranteed", "Burstable", "BestEffort"] as const).map(async (name): Promise<CadvisorRow[]> => {
      const cgroup = qosCgroup(cgroupRoot, name);
      const found = name === "Guaranteed" ? kubepods?.usage : await reader.usage(cgroup);
      if (found === undefined) return [];
      const labels = { ...NOBODY, id: join("/", cgroup) };
      return [{ labels, atMs, usage: found, details: await reader.details(cgroup), network: [] }];
    }),
  );
  const ofPods = await Promise.all(pods.map((pod) => podRows(pod, stats, cgroupRoot, reader)));
  return [root, ...qos.flat(), ...ofPods.flat()];
}

async function podRows(
  measured: PodMeasure,
  stats: NodeStats,
  cgroupRoot: CgroupPlace,
  reader: CgroupReader,
): Promise<readonly CadvisorRow[]> {
  const { pod, sandbox, network, containers, startedAtMs, usage } = measured;
  const { atMs } = stats;
  const cgroup = podCgroup(cgroupRoot, pod);
  const labels = { ...NOBODY, ...podLabels(pod), id: join("/", cgroup) };
  const own: CadvisorRow[] =
    usage === undefined
      ? []
      : [{ labels, atMs, usage, details: await reader.details(cgroup), startedAtMs, network: [] }];
  const sandboxes = sandbox === undefined ? [] : [sandbox];
  const ofSandbox = sandboxes.map(async ({ id, createdAtMs }): Promise<CadvisorRow> => {
    const below = join(cgroup, id);
    return {
      labels: { ...labels, id: join("/", below), name: id },
      atMs,
      ...(await figuresOf(below, reader)),
      startedAtMs: createdAtMs,
      network,
    };
  });
  const ofContainers = containers.map((each) => containerRow(each, { labels, cgroup, stats, reader }));
  return [...own, ...(await Promise.all([...ofSandbox, ...ofContainers]))];
}

async function containerRow(
  { name, container, stats, usage, logs }: ContainerMeasure,
  around: {
    readonly labels: RowLabels;
    readonly cgroup: string;
    readonly stats: NodeStats;
    readonly reader: CgroupReader;
  },
): Promise<CadvisorRow> {
  const { id, image, createdAtMs } = container;
  const cgroup = join(around.cgroup, id);
  return {
    labels: { ...around.labels, container: name, id: join("/", cgroup), image, name: id },
    atMs: stats.timestampMs || around.stats.atMs,
    ...(await figuresOf(cgroup, around.reader, usage ?? reported(stats))),
    startedAtMs: createdAtMs,
    network: [],
    disk: { usedBytes: stats.writableLayerBytes + logs.bytes, of: around.stats.imageDisk },
  };
}

async function figuresOf(
  cgroup: string,
  reader: CgroupReader,
  known?: CgroupUsage,
): Promise<Pick<CadvisorRow, "usage" | "details" | "open">> {
  const details = await reader.details(cgroup);
  return { usage: known ?? (await reader.usage(cgroup)), details, open: await reader.open(details.pids) };
}

/** Of a runtime whose containers have other cgroups than upstream's. */
function reported(stats: ContainerMeasure["stats"]): CgroupUsage {
  return {
    cpuNanoSeconds: stats.cpuCoreNanoSeconds,
    memoryUsageBytes: stats.memoryUsageBytes,
    memoryWorkingSetBytes: stats.memoryWorkingSetBytes,
    memoryRssBytes: stats.memoryRssBytes,
    pageFaults: 0,
    majorPageFaults: 0,
    processes: 0,
  };
}

function podLabels({ metadata: { name = "", namespace = "" } }: core.Pod) {
  return { namespace, pod: name };
}
