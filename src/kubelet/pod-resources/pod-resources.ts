/**
 * What the containers of a node have: devices, CPUs and memory of their own, and devices of claims. Pure.
 *
 * 1. Of init containers only those that run on (sidecars) are there.
 */
import type { core } from "#api";
import type { HeldDevice } from "../device-plugins/index.ts";
import type { Held } from "../devices/index.ts";
import { isSidecar } from "../lifecycle/index.ts";

/** Memory of a container on NUMA nodes. */
export interface MemoryBlock {
  /** memory, hugepages-2Mi … */
  readonly type: string;
  readonly bytes: number;
  readonly numaNodes: readonly number[];
}

/** What the managers of CPUs and memory have handed out. */
export interface ExclusiveResources {
  cpus(podUid: string, container: string): readonly number[];
  memory(podUid: string, container: string): readonly MemoryBlock[];
  allocatableCpus(): readonly number[];
  allocatableMemory(): readonly MemoryBlock[];
}

/** On a node that hands out no CPUs or memory of their own. */
export const NONE_EXCLUSIVE: ExclusiveResources = {
  cpus: () => [],
  memory: () => [],
  allocatableCpus: () => [],
  allocatableMemory: () => [],
};

export interface PodResourcesSource {
  /** The Pods that are on the node. */
  readonly pods: () => readonly core.Pod[];
  readonly held: (pod: core.Pod, container: core.Container) => Held;
  readonly healthyDevices: () => readonly HeldDevice[];
  readonly exclusive?: ExclusiveResources | undefined;
}

export function podResources(pod: core.Pod, { held, exclusive = NONE_EXCLUSIVE }: PodResourcesSource) {
  const { name = "", namespace = "", uid = "" } = pod.metadata;
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  return {
    name,
    namespace,
    containers: [...initContainers.filter(isSidecar), ...containers].map((container) => {
      const { devices, claims } = held(pod, container);
      return {
        name: container.name,
        devices: devices.map(deviceOf),
        cpuIds: [...exclusive.cpus(uid, container.name)],
        memory: exclusive.memory(uid, container.name).map(memoryOf),
        dynamicResources: claims.map(({ claim, devices: ofClaim }) => ({
          claimName: claim.name,
          claimNamespace: claim.namespace,
          claimResources: ofClaim.map(({ driver, poolName, deviceName, shareId = "", cdiDeviceIds }) => ({
            cdiDevices: cdiDeviceIds.map((id) => ({ name: id })),
            driverName: driver,
            poolName,
            deviceName,
            shareId,
          })),
        })),
      };
    }),
  };
}

export function allocatableResources({ healthyDevices, exclusive = NONE_EXCLUSIVE }: PodResourcesSource) {
  return {
    devices: healthyDevices().map(deviceOf),
    cpuIds: [...exclusive.allocatableCpus()],
    memory: exclusive.allocatableMemory().map(memoryOf),
  };
}

function deviceOf({ resource, id, numaNodes }: HeldDevice) {
  return { resourceName: resource, deviceIds: [id], topology: numaNodes.length === 0 ? null : topologyOf(numaNodes) };
}

function memoryOf({ type, bytes, numaNodes }: MemoryBlock) {
  return { memoryType: type, size: bytes, topology: topologyOf(numaNodes) };
}

function topologyOf(numaNodes: readonly number[]) {
  return { nodes: numaNodes.map((id) => ({ id })) };
}
