/**
 * Measures a node and its Pods at one point in time.
 *
 *     runtime ──► containers ┐
 *     cgroups ──► Pods       , node ├──► NodeStats ──► summary, metrics
 *     /proc, disks ──► node, network ┘
 *
 * 1. Measured on request only. Rates need two measurements: the first request waits for the second one.
 * 2. A measurement is shown again for 2 s, unless Pods have changed since: many who ask cost as much as one.
 */
import { join } from "node:path";
import type { core } from "#api";
import { type Clock, KeyedLock } from "#base";
import {
  CONTAINER_NAME,
  cgroupLayout,
  POD_UID,
  podCgroup,
  podLogDirectory,
  qosCgroup,
} from "../../containers/index.ts";
import { type Hierarchies, type MachineUsage, readHierarchies, readUsage } from "../../host/index.ts";
import type { Container, ContainerStats, FilesystemUsage, PodSandbox } from "../../runtime/runtime.ts";
import type { VolumeUsage } from "../../volumes/index.ts";
import type { ServedKubelet } from "../served.ts";
import { type CgroupUsage, cgroupUsage, processIn } from "./cgroup-usage.ts";
import { CpuRates, type Sample } from "./cpu-rates.ts";
import { type DiskUsage, diskUsage, type FilesIn, filesIn } from "./disks.ts";
import { type InterfaceUsage, networkUsage } from "./network.ts";
import { nodeUsage } from "./node-usage.ts";

export interface ContainerMeasure {
  readonly name: string;
  readonly container: Container;
  readonly stats: ContainerStats;
  /** Of its cgroup: what the runtime does not report. Undefined if there is none where upstream's runtimes have it. */
  readonly usage?: CgroupUsage | undefined;
  readonly nanoCores: number | undefined;
  readonly logs: FilesIn;
}

export interface PodMeasure {
  readonly pod: core.Pod;
  readonly containers: readonly ContainerMeasure[];
  /** Undefined if it has no cgroup of its own. */
  readonly usage: CgroupUsage | undefined;
  readonly nanoCores: number | undefined;
  readonly startedAtMs: number;
  readonly sandbox?: PodSandbox | undefined;
  readonly network: readonly InterfaceUsage[];
  readonly volumes: readonly VolumeUsage[];
}

export interface NodeStats {
  readonly atMs: number;
  readonly usage: CgroupUsage;
  readonly nanoCores: number | undefined;
  /** Of all Pods together. */
  readonly kubepods?: { readonly usage: CgroupUsage; readonly nanoCores: number | undefined } | undefined;
  readonly machine: MachineUsage;
  readonly network: readonly InterfaceUsage[];
  readonly images: readonly FilesystemUsage[];
  /** Of the kubelet's folder, and of the images and writable layers. */
  readonly disk: DiskUsage;
  readonly imageDisk: DiskUsage;
  readonly pods: readonly PodMeasure[];
}

const NODE = "node";
const KUBEPODS = "kubepods";
const BETWEEN_MS = 500;
const FRESH_MS = 2_000;

export class NodeMeasurements {
  readonly #kubelet: ServedKubelet;
  readonly #clock: Clock;
  readonly #rates = new CpuRates();
  readonly #lock = new KeyedLock();
  #hierarchies: Promise<Hierarchies> | undefined;
  #last: { readonly stats: NodeStats; readonly atMs: number; readonly pods: string } | undefined;

  constructor(kubelet: ServedKubelet, clock: Clock) {
    this.#kubelet = kubelet;
    this.#clock = clock;
  }

  /** One at a time: requests at the same time share a measurement. */
  measure(signal: AbortSignal): Promise<NodeStats> {
    return this.#lock.run(NODE, async () => {
      const pods = containersOf(this.#kubelet.pods());
      const last = this.#last;
      if (last !== undefined && last.pods === pods && this.#clock.monotonic() - last.atMs < FRESH_MS) return last.stats;
      if (!this.#rates.isKnown(NODE, this.#clock.now())) {
        this.#rates.take((await this.#look(signal)).samples);
        await this.#clock.sleep(BETWEEN_MS, signal);
      }
      const { samples, stats } = await this.#look(signal);
      this.#rates.take(samples);
      const measured = await stats();
      this.#last = { stats: measured, atMs: this.#clock.monotonic(), pods };
      return measured;
    });
  }

  async hierarchies(): Promise<Hierarchies> {
    this.#hierarchies ??= readHierarchies();
    return this.#hierarchies;
  }

  async #look(signal: AbortSignal) {
    const hierarchies = await this.hierarchies();
    const { runtime, config } = this.#kubelet;
    const [measured, containers, sandboxes, usage, kubepods] = await Promise.all([
      runtime.listContainerStats({}, signal),
      runtime.listContainers({}, signal),
      runtime.listPodSandboxes({}, signal),
      nodeUsage(hierarchies, config.cgroupRoot),
      cgroupUsage(hierarchies, qosCgroup(cgroupLayout(config), "Guaranteed")),
    ]);
    const atMs = this.#clock.now();
    const samples = new Map<string, Sample>([[NODE, { atMs, nanoSeconds: usage.cpuNanoSeconds }]]);
    if (kubepods !== undefined) samples.set(KUBEPODS, { atMs, nanoSeconds: kubepods.cpuNanoSeconds });
    for (const { id, timestampMs, cpuCoreNanoSeconds } of measured)
      samples.set(id, { atMs: timestampMs || atMs, nanoSeconds: cpuCoreNanoSeconds });
    const pods = await Promise.all(
      this.#kubelet.pods().map(async (pod) => {
        const own = await cgroupUsage(hierarchies, podCgroup(cgroupLayout(config), pod));
        if (own !== undefined) samples.set(podKey(pod), { atMs, nanoSeconds: own.cpuNanoSeconds });
        return { pod, usage: own };
      }),
    );
    const running = new Map(containers.filter(({ state }) => state === "running").map((each) => [each.id, each]));
    const ready = sandboxes.filter(({ state }) => state === "ready");
    return {
      samples,
      stats: async (): Promise<NodeStats> => {
        const images = await runtime.images.filesystemUsage(signal);
        return {
          atMs,
          usage,
          nanoCores: this.#rates.nanoCores(NODE),
          kubepods: kubepods && { usage: kubepods, nanoCores: this.#rates.nanoCores(KUBEPODS) },
          machine: await readUsage(config.rootDir),
          network: await networkUsage(),
          images,
          disk: await diskUsage(config.rootDir),
          imageDisk: await diskUsage(images[0]?.mountpoint || config.rootDir, config.rootDir),
          pods: await Promise.all(
            pods.map((each) => this.#pod(each.pod, each.usage, { hierarchies, measured, running, ready }, signal)),
          ),
        };
      },
    };
  }

  async #pod(pod: core.Pod, usage: CgroupUsage | undefined, seen: Seen, signal: AbortSignal): Promise<PodMeasure> {
    const { config } = this.#kubelet;
    const { uid = "" } = pod.metadata;
    const sandbox = seen.ready.find(({ labels }) => labels[POD_UID] === uid);
    const containers = seen.measured.flatMap((stats) => {
      const container = seen.running.get(stats.id);
      return container?.labels[POD_UID] === uid ? [{ stats, container }] : [];
    });
    const logs = podLogDirectory(config.podLogsRoot, pod);
    const cgroup = podCgroup(cgroupLayout(config), pod);
    return {
      pod,
      usage,
      nanoCores: this.#rates.nanoCores(podKey(pod)),
      startedAtMs: sandbox?.createdAtMs ?? 0,
      sandbox,
      network: await this.#network(pod, sandbox, seen.hierarchies),
      volumes: (await this.#kubelet.volumes?.(pod, signal)) ?? [],
      containers: await Promise.all(
        containers.map(async ({ stats, container }) => {
          const name = container.labels[CONTAINER_NAME] ?? container.metadata.name;
          return {
            name,
            container,
            stats,
            usage: await cgroupUsage(seen.hierarchies, join(cgroup, container.id)),
            nanoCores: this.#rates.nanoCores(stats.id),
            logs: await filesIn(join(logs, name)),
          };
        }),
      ),
    };
  }

  /** The sandbox's process is in the Pod's network namespace. A Pod on the host network has none. */
  async #network(pod: core.Pod, sandbox: PodSandbox | undefined, hierarchies: Hierarchies) {
    if (sandbox === undefined || pod.spec?.hostNetwork === true) return [];
    const pid = await processIn(hierarchies, join(podCgroup(cgroupLayout(this.#kubelet.config), pod), sandbox.id));
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

/** Changes when a Pod or a container comes, starts or goes. */
function containersOf(pods: readonly core.Pod[]): string {
  return pods
    .map(({ metadata, status }) => {
      const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {};
      const all = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
      return [metadata.uid, ...all.map(({ containerID, state }) => `${containerID} ${Object.keys(state ?? {})}`)];
    })
    .join("\n");
}
