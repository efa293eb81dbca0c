/** The managers of a kubelet's node, made from its options: what `node-resources.ts` computes, at work. */
import { defaultFeatures, type Features } from "#api";
import { abortable, type TaskGroup } from "#base";
import type { KubeletConfig } from "./config/index.ts";
import type { Machine } from "./host/index.ts";
import type { KubeletOptions } from "./kubelet.ts";
import type { KubeletHost } from "./kubelet-host.ts";
import { CRASH_BACKOFF, REDUCED_CRASH_BACKOFF } from "./lifecycle/index.ts";
import { allocatableOf, capacityOf } from "./node/index.ts";
import type { NodePods } from "./node-pods.ts";
import { reservedAmounts, runCpuReconciler, type StateFiles, topologyManager } from "./node-resources.ts";
import { type HintProvider, readTopology, type TopologyManager } from "./topology/index.ts";

export function amountsOf(config: KubeletConfig, machine: Machine) {
  const { maxPods, podsPerCore, localStorageIsolation: localStorage, evictionHard } = config;
  const capacity = capacityOf(machine, { maxPods, podsPerCore, localStorage });
  return { capacity, allocatable: allocatableOf(capacity, { ...reservedAmounts(config), evictionHard }) };
}

export function managerOf(
  { config, clock, metrics, features = defaultFeatures }: KubeletOptions,
  { machine, cgroupVersion = 1, topology, state }: KubeletHost,
  providers: readonly HintProvider[],
): Promise<TopologyManager> {
  const kept = new Map<string, string>();
  const inMemory: StateFiles = {
    read: async (name) => kept.get(name),
    write: async (name, text) => void kept.set(name, text),
  };
  const files = state ?? inMemory;
  const onOneNode = { cpus: machine.cpus, memoryBytes: machine.memoryBytes };
  return Promise.resolve(topology ?? readTopology(async () => "", onOneNode)).then((found) =>
    topologyManager({ config, machine, topology: found, cgroupVersion, files, features, metrics, clock, providers }),
  );
}

/** What follows the Pods that run: shares of QoS classes, and CPUs of containers. */
export function startResources(
  { config, runtime, clock, log }: KubeletOptions,
  { host, manager, pods, tasks }: { host: KubeletHost; manager: TopologyManager; pods: NodePods; tasks: TaskGroup },
): void {
  const { cpuPolicy, reconcileMs: periodMs } = config.topology;
  const exists = (uid: string) => pods.workers.has(uid);
  tasks.run("QoS cgroups", async (signal) => {
    await abortable(pods.api.synced, signal);
    for (;;) {
      try {
        await host.cgroups.update(pods.workers.active());
      } catch (error) {
        log.warn("QoS cgroups could not be updated", { error });
      }
      await clock.sleep(QOS_UPDATE_MS, signal);
    }
  });
  if (cpuPolicy === "static")
    tasks.run("CPUs of containers", async (signal) => {
      await abortable(pods.api.synced, signal);
      await runCpuReconciler({ manager, runtime, exists, periodMs, clock, log }, signal);
    });
}

const QOS_UPDATE_MS = 60_000;

/** A node may have its own longest delay. */
export function crashBackoffOf({ longestRestartDelayMs: maxMs }: KubeletConfig, features: Features) {
  const usual = features.enabled("ReduceDefaultCrashLoopBackOffDecay") ? REDUCED_CRASH_BACKOFF : undefined;
  if (maxMs === undefined || !features.enabled("KubeletCrashLoopBackOffMax")) return usual;
  return { initialMs: Math.min(maxMs, (usual ?? CRASH_BACKOFF).initialMs), maxMs };
}
