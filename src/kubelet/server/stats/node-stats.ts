/**
 * Measures a node and its Pods at one point in time.
 *
 *     runtime ──► containers ┐
 *     cgroups ──► Pods       , node ├──► NodeStats ──► summary, metrics
 *     /proc, disks ──► node, network ┘
 *
 * 1. Measured on request only. Rates need two measurements: the first request waits for the second one.
 */
import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { core } from "#api";
import type { Clock } from "#base";
import { CONTAINER_NAME, POD_UID, podCgroup, podLogDirectory } from "../../containers/index.ts";
import { type Hierarchies, type MachineUsage, readHierarchies, readUsage } from "../../host/index.ts";
import type { Container, ContainerStats, FilesystemUsage, PodSandbox } from "../../runtime/runtime.ts";
import type { ServedKubelet } from "../served.ts";
import { type CgroupUsage, cgroupUsage, processIn } from "./cgroup-usage.ts";
import { CpuRates, type Sample } from "./cpu-rates.ts";
import { type InterfaceUsage, networkUsage } from "./network.ts";
import { nodeUsage } from "./node-usage.ts";

export interface ContainerMeasure {
  readonly name: string;
  readonly container: Container;
  readonly stats: ContainerStats;
  readonly nanoCores: number | undefined;
  readonly logBytes: number;
}

export interface PodMeasure {
  readonly pod: core.Pod;
  readonly containers: readonly ContainerMeasure[];
  /** Undefined if it has no cgroup of its own. */
  readonly usage: CgroupUsage | undefined;
  readonly nanoCores: number | undefined;
  readonly startedAtMs: number;
  readonly network: readonly InterfaceUsage[];
}

export interface NodeStats {
  readonly atMs: number;
  readonly usage: CgroupUsage;
  readonly nanoCores: number | undefined;
  readonly machine: MachineUsage;
  readonly network: readonly InterfaceUsage[];
  readonly images: readonly FilesystemUsage[];
  readonly disk: DiskUsage;
  readonly pods: readonly PodMeasure[];
}

export interface DiskUsage {
  readonly capacityBytes: number;
  readonly availableBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

const NODE = "node";
const BETWEEN_MS = 500;

export class NodeMeasurements {
  readonly #kubelet: ServedKubelet;
  readonly #clock: Clock;
  readonly #rates = new CpuRates();
  #hierarchies: Promise<Hierarchies> | undefined;

  constructor(kubelet: ServedKubelet, clock: Clock) {
    this.#kubelet = kubelet;
    this.#clock = clock;
  }

  async measure(signal: AbortSignal): Promise<NodeStats> {
    if (!this.#rates.isKnown(NODE, this.#clock.now())) {
      this.#rates.take((await this.#look(signal)).samples);
      await this.#clock.sleep(BETWEEN_MS, signal);
    }
    const { samples, stats } = await this.#look(signal);
    this.#rates.take(samples);
    return stats();
  }

  async #look(signal: AbortSignal) {
    this.#hierarchies ??= readHierarchies();
    const hierarchies = await this.#hierarchies;
    const { runtime, config } = this.#kubelet;
    const [measured, containers, sandboxes, usage] = await Promise.all([
      runtime.listContainerStats({}, signal),
      runtime.listContainers({}, signal),
      runtime.listPodSandboxes({}, signal),
      nodeUsage(hierarchies, config.cgroupRoot),
    ]);
    const atMs = this.#clock.now();
    const samples = new Map<string, Sample>([[NODE, { atMs, nanoSeconds: usage.cpuNanoSeconds }]]);
    for (const { id, timestampMs, cpuCoreNanoSeconds } of measured)
      samples.set(id, { atMs: timestampMs || atMs, nanoSeconds: cpuCoreNanoSeconds });
    const pods = await Promise.all(
      this.#kubelet.pods().map(async (pod) => {
        const own = await cgroupUsage(hierarchies, podCgroup(config.cgroupRoot, pod));
        if (own !== undefined) samples.set(podKey(pod), { atMs, nanoSeconds: own.cpuNanoSeconds });
        return { pod, usage: own };
      }),
    );
    const running = new Map(containers.filter(({ state }) => state === "running").map((each) => [each.id, each]));
    const ready = sandboxes.filter(({ state }) => state === "ready");
    return {
      samples,
      stats: async (): Promise<NodeStats> => ({
        atMs,
        usage,
        nanoCores: this.#rates.nanoCores(NODE),
        machine: await readUsage(config.rootDir),
        network: await networkUsage(),
        images: await runtime.images.filesystemUsage(signal),
        disk: await diskUsage(config.rootDir),
        pods: await Promise.all(
          pods.map((each) => this.#pod(each.pod, each.usage, { hierarchies, measured, running, ready })),
        ),
      }),
    };
  }

  async #pod(pod: core.Pod, usage: CgroupUsage | undefined, seen: Seen): Promise<PodMeasure> {
    const { config } = this.#kubelet;
    const { uid = "" } = pod.metadata;
    const sandbox = seen.ready.find(({ labels }) => labels[POD_UID] === uid);
    const containers = seen.measured.flatMap((stats) => {
      const container = seen.running.get(stats.id);
      return container?.labels[POD_UID] === uid ? [{ stats, container }] : [];
    });
    const logs = podLogDirectory(config.podLogsRoot, pod);
    return {
      pod,
      usage,
      nanoCores: this.#rates.nanoCores(podKey(pod)),
      startedAtMs: sandbox?.createdAtMs ?? 0,
      network: await this.#network(pod, sandbox, seen.hierarchies),
      containers: await Promise.all(
        containers.map(async ({ stats, container }) => {
          const name = container.labels[CONTAINER_NAME] ?? container.metadata.name;
          const nanoCores = this.#rates.nanoCores(stats.id);
          return { name, container, stats, nanoCores, logBytes: await bytesIn(join(logs, name)) };
        }),
      ),
    };
  }

  /** The sandbox's process is in the Pod's network namespace. A Pod on the host network has none. */
  async #network(pod: core.Pod, sandbox: PodSandbox | undefined, hierarchies: Hierarchies) {
    if (sandbox === undefined || pod.spec?.hostNetwork === true) return [];
    const pid = await processIn(hierarchies, join(podCgroup(this.#kubelet.config.cgroupRoot, pod), sandbox.id));
    return pid === undefined ? [] : networkUsage(pid);
  }
}

interface Seen {
  readonly hierarchies: Hierarchies;
  readonly measured: readonly ContainerStats[];
  readonly running: ReadonlyMap<string, Container>;
  readonly ready: readonly PodSandbox[];
}

function podKey({ metadata }: core.Pod): string {
  return `pod ${metadata.uid}`;
}

async function diskUsage(path: string): Promise<DiskUsage> {
  const { bsize, blocks, bavail, files, ffree } = await statfs(path);
  return { capacityBytes: blocks * bsize, availableBytes: bavail * bsize, inodes: files, inodesFree: ffree };
}

/** The size of the files in a directory; 0 if it is missing or being removed. */
async function bytesIn(directory: string): Promise<number> {
  try {
    const sizes = (await readdir(directory)).map(async (name) => (await stat(join(directory, name))).size);
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
    throw error;
  }
}
