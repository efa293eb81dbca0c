/**
 * The resources of a node, put together: what Pods and the system may use, cgroups that enforce it, and the managers
 * that hand out CPUs and memory.
 *
 *     config, machine ──► rules for containers, limits of cgroups, reserved CPUs and memory
 *     TopologyManager ──► placement of each container ···► UpdateContainerResources when the shared CPUs change
 */
import { type core, type Features, parseQuantity, scaledValue } from "#api";
import { type Clock, isAbort, type Logger, type MetricsRegistry } from "#base";
import type { KubeletConfig } from "./config/index.ts";
import { CONTAINER_NAME, type CpuPlacement, cpuShares, POD_UID, type ResourceRules } from "./containers/index.ts";
import type { CgroupLimits, EnforcedLimits, Machine } from "./host/index.ts";
import type { Amounts } from "./node/index.ts";
import type { PodTopology } from "./pods/index.ts";
import type { Runtime } from "./runtime/runtime.ts";
import {
  CpuManager,
  checkCpuOptions,
  checkNumaNodes,
  cpuSetText,
  type HintProvider,
  type MachineTopology,
  MemoryManager,
  meanDistance,
  numaNodesOf,
  parseCpuSet,
  readCpuOptions,
  readTopologyOptions,
  TopologyManager,
  topologyMetrics,
  writeCpuCheckpoint,
} from "./topology/index.ts";

/** State files of the kubelet's root directory. */
export interface StateFiles {
  /** Undefined if there is none. */
  read(name: string): Promise<string | undefined>;
  write(name: string, text: string): Promise<void>;
}

export interface NodeResourcesOptions {
  readonly config: KubeletConfig;
  readonly machine: Machine;
  readonly topology: MachineTopology;
  readonly cgroupVersion: 1 | 2;
  readonly files: StateFiles;
  readonly features: Features;
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  /** Of devices, and others. */
  readonly providers?: readonly HintProvider[] | undefined;
}

/** What is reserved for the system: by amount, or the CPUs that are named. */
export function reservedAmounts({ kubeReserved, systemReserved, topology }: KubeletConfig): {
  readonly kube: Amounts;
  readonly system: Amounts;
} {
  if (topology.reservedCpus === "") return { kube: kubeReserved, system: systemReserved };
  const { cpu: _, ...kube } = kubeReserved;
  return { kube, system: { ...systemReserved, cpu: String(parseCpuSet(topology.reservedCpus).size) } };
}

export function resourceRules(
  config: KubeletConfig,
  machine: Pick<Machine, "swapBytes" | "hugePages">,
  { cgroupVersion, features, allocatable }: { cgroupVersion: 1 | 2; features: Features; allocatable: Amounts },
): ResourceRules {
  const { cgroups, swap } = config;
  const { swapBytes = 0, hugePages = new Map<number, number>() } = machine;
  return {
    cgroupVersion,
    cpuQuota: cgroups.cpuQuota,
    cpuPeriodUs: cgroups.cpuPeriodUs,
    singleProcessOomKill: cgroups.singleProcessOomKill ?? cgroupVersion === 1,
    hugePageKib: [...hugePages.keys()],
    ...(swapBytes > 0 && {
      // Without cgroup v2 nobody can be given a part of it.
      swap: { behavior: cgroupVersion === 2 ? swap.behavior : "NoSwap", totalBytes: swapBytes },
    }),
    ...(cgroupVersion === 2 &&
      features.enabled("MemoryQoS") && {
        memoryQos: {
          throttlingFactor: cgroups.memoryThrottlingFactor,
          reservation: cgroups.memoryReservation,
          allocatableBytes: amount(allocatable, "memory", 0),
        },
      }),
  };
}

/** What cgroups limit: all Pods to what the node has beside the system, and the system to what is reserved. */
export function enforcedLimits(config: KubeletConfig, capacity: Amounts, maxPids: number): EnforcedLimits {
  const { cgroups } = config;
  const { kube, system } = reservedAmounts(config);
  const left = (name: string, scale: number) =>
    Math.max(0, amount(capacity, name, scale) - amount(kube, name, scale) - amount(system, name, scale));
  const pidsKept = amount(kube, "pid", 0) + amount(system, "pid", 0);
  const pods: CgroupLimits = {
    cpuShares: cpuShares(left("cpu", -3)),
    memoryLimitBytes: left("memory", 0),
    ...(pidsKept > 0 && { pids: Math.max(1, maxPids - pidsKept) }),
  };
  const existing = (
    [
      ["system", cgroups.systemReserved, system, "System Reserved"],
      ["kube", cgroups.kubeReserved, kube, "Kube Reserved"],
    ] as const
  ).flatMap(([who, cgroup, amounts, what]) => {
    const all = cgroups.enforce.includes(`${who}-reserved`);
    if (!all && !cgroups.enforce.includes(`${who}-reserved-compressible`)) return [];
    const limits: CgroupLimits = {
      ...(amounts.cpu !== undefined && { cpuShares: cpuShares(amount(amounts, "cpu", -3)) }),
      ...(all && amounts.memory !== undefined && { memoryLimitBytes: amount(amounts, "memory", 0) }),
      ...(all && amounts.pid !== undefined && { pids: amount(amounts, "pid", 0) }),
    };
    return [{ cgroup, what, limits }];
  });
  return { pods: cgroups.perQos && cgroups.enforce.includes("pods") ? pods : undefined, existing };
}

/** Throws Error if the configuration, the machine and the stored state do not fit together. */
export async function topologyManager(options: NodeResourcesOptions): Promise<TopologyManager> {
  const { config, topology, files, features, clock, providers: others } = options;
  const { policy, scope, options: given, memoryPolicy, cpuPolicy } = config.topology;
  const enabled = (gate: string) => features.enabled(gate);
  const chosen = readTopologyOptions(given, enabled);
  checkNumaNodes(policy, topology, chosen);
  const cpus = cpuPolicy === "static" ? await cpuManager(options) : undefined;
  const memory = memoryPolicy === "Static" ? await memoryManager(options) : undefined;
  if (cpus === undefined) await forgetCpus(files);
  return new TopologyManager({
    policy,
    scope,
    numa: {
      nodes: numaNodesOf(topology),
      distance: chosen.preferClosestNuma ? meanDistance(topology.nodes) : undefined,
    },
    cpus,
    memory,
    others,
    save: (manager, text) => files.write(STATE_FILES[manager], text),
    metrics: topologyMetrics(options.metrics, clock),
    clock,
  });
}

const STATE_FILES = { cpu: "cpu_manager_state", memory: "memory_manager_state" } as const;

async function cpuManager({ config, topology, files, features }: NodeResourcesOptions): Promise<CpuManager> {
  const { cpuOptions, reservedCpus, policy } = config.topology;
  const options = readCpuOptions(cpuOptions, (gate) => features.enabled(gate));
  checkCpuOptions(options, topology, policy);
  const { kube, system } = reservedAmounts(config);
  const reserved = Math.ceil((amount(kube, "cpu", -3) + amount(system, "cpu", -3)) / 1000);
  if (reserved === 0)
    throw new Error(
      "[cpumanager] the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero",
    );
  const text = await files.read(STATE_FILES.cpu);
  return new CpuManager({
    topology,
    reserved: reservedCpus === "" ? reserved : parseCpuSet(reservedCpus),
    options,
    stored: text === undefined ? undefined : { file: STATE_FILES.cpu, text },
  });
}

/** The state of the policy none: another policy must not find CPUs that nobody keeps any more. */
async function forgetCpus(files: StateFiles): Promise<void> {
  const none = writeCpuCheckpoint({ policyName: "none", defaultCpuSet: "", entries: {} });
  const found = await files.read(STATE_FILES.cpu);
  if (found === undefined || found === none) return;
  throw new Error(
    `could not restore state from checkpoint: configured policy "none" differs from state checkpoint policy "static", please drain this node and delete the CPU manager checkpoint file "${STATE_FILES.cpu}" before restarting Kubelet`,
  );
}

async function memoryManager({ config, machine, topology, files }: NodeResourcesOptions): Promise<MemoryManager> {
  const { reservedMemory: reserved } = config.topology;
  const { kube, system } = reservedAmounts(config);
  const resources = new Set(["memory", ...reserved.flatMap(({ limits }) => Object.keys(limits))]);
  for (const resource of resources) {
    const kept =
      resource === "memory" ? thresholdBytes(config.evictionHard["memory.available"], machine.memoryBytes) : 0;
    const wanted = amount(kube, resource, 0) + amount(system, resource, 0) + kept;
    const total = reserved.reduce((sum, { limits }) => sum + amount(limits, resource, 0), 0);
    if (wanted !== total)
      throw new Error(
        `the total amount "${total}" of type "${resource}" is not equal to the value "${wanted}" determined by Node Allocatable feature`,
      );
  }
  const text = await files.read(STATE_FILES.memory);
  const stored = text === undefined ? undefined : { file: STATE_FILES.memory, text };
  return new MemoryManager({ topology, reserved, stored });
}

/** For Pods and their containers. */
export function podTopology(manager: TopologyManager): PodTopology {
  return {
    admit: (pod) => manager.admit(pod),
    release: (uid) => manager.release(uid),
    hasExclusiveCpus: (uid) => manager.hasExclusiveCpus(uid),
    placementOf: ({ metadata }, container) => placement(manager, metadata.uid ?? "", container),
  };
}

function placement(manager: TopologyManager, uid: string, container: string): CpuPlacement {
  const { cpus, isExclusive, numaNodes } = manager.placementOf(uid, container);
  return {
    isExclusive,
    ...(cpus !== undefined && { cpus: cpuSetText(cpus) }),
    ...(numaNodes !== undefined && { mems: cpuSetText(numaNodes) }),
  };
}

export interface CpuReconcilerOptions {
  readonly manager: TopologyManager;
  readonly runtime: Pick<Runtime, "listContainers" | "updateContainerResources">;
  readonly exists: (podUid: string) => boolean;
  readonly periodMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Containers follow when CPUs become exclusive or are shared again. A container is asked for once for each change. */
export async function runCpuReconciler(options: CpuReconcilerOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, periodMs } = options;
  const applied = new Map<string, string>();
  for (;;) {
    await clock.sleep(periodMs, signal);
    try {
      await reconcileCpus(options, applied, signal);
    } catch (error) {
      if (isAbort(error, signal)) return;
      log.warn("CPUs of containers could not be checked", { error });
    }
  }
}

async function reconcileCpus(
  { manager, runtime, exists, log }: CpuReconcilerOptions,
  applied: Map<string, string>,
  signal: AbortSignal,
): Promise<void> {
  for (const uid of manager.users()) if (!exists(uid)) await manager.release(uid);
  const running = (await runtime.listContainers({}, signal)).filter(({ state }) => state === "running");
  const ids = new Set(running.map(({ id }) => id));
  for (const id of applied.keys()) if (!ids.has(id)) applied.delete(id);
  for (const { id, labels } of running) {
    const [uid, name] = [labels[POD_UID] ?? "", labels[CONTAINER_NAME] ?? ""];
    const { cpus } = placement(manager, uid, name);
    if (!exists(uid) || cpus === undefined || cpus === "" || applied.get(id) === cpus) continue;
    try {
      await runtime.updateContainerResources(id, { cpusetCpus: cpus }, signal);
      applied.set(id, cpus);
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      log.warn("the CPUs of a container could not be changed", { container: name, cpus, error });
    }
  }
}

/** Why the node cannot run as it is configured. */
export function machineProblem(
  { swap, cgroups }: KubeletConfig,
  { swapBytes = 0, cgroupVersion }: { readonly swapBytes?: number | undefined; readonly cgroupVersion: 1 | 2 },
): string | undefined {
  if (cgroups.failV1 && cgroupVersion === 1)
    return "kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is unsupported and will be removed in a future release";
  if (cgroupVersion === 1 && cgroups.singleProcessOomKill === false)
    return "invalid configuration: singleProcessOOMKill must not be explicitly set to false when using cgroup v1";
  if (swap.failOn && swapBytes > 0)
    return "running with swap on is not supported, please disable swap or set --fail-swap-on flag to false";
  return undefined;
}

/** A Guaranteed Pod's CPUs and memory were chosen when it was admitted: they do not change while it runs. */
export function resizeProblem(
  before: core.Pod,
  after: core.Pod,
  { cpuPolicy, memoryPolicy }: KubeletConfig["topology"],
  isGuaranteed: boolean,
): string | undefined {
  if (!isGuaranteed) return undefined;
  const changes = (resource: string) =>
    (after.spec?.containers ?? []).some(({ name, resources }) => {
      const old = before.spec?.containers?.find((each) => each.name === name)?.resources;
      return (["requests", "limits"] as const).some(
        (part) => old?.[part]?.[resource] !== resources?.[part]?.[resource],
      );
    });
  for (const [isStatic, resource, manager] of [
    [cpuPolicy === "static", "cpu", "CPU Manager"],
    [memoryPolicy === "Static", "memory", "Memory Manager"],
  ] as const)
    if (isStatic && changes(resource))
      return `Resize is infeasible for Guaranteed Pods alongside ${manager} static policy`;
  return undefined;
}

function thresholdBytes(threshold = "0", capacity: number): number {
  if (!threshold.endsWith("%")) return amount({ memory: threshold }, "memory", 0);
  return Math.floor((capacity * Number(threshold.slice(0, -1))) / 100);
}

function amount(amounts: Amounts, name: string, scale: number): number {
  const value = amounts[name];
  return value === undefined ? 0 : Number(scaledValue(parseQuantity(value), scale));
}
