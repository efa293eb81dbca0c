/** Nodes and pods as the original's scheduler_perf suite has them. */
import type { core, KubeObject } from "#api";
import type { ResourceName } from "#client";

export const NODES: ResourceName = { apiVersion: "v1", kind: "Node", plural: "nodes", namespaced: false };
export const PODS: ResourceName = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };
export const CLAIMS: ResourceName = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
  namespaced: true,
};
export const VOLUMES: ResourceName = {
  apiVersion: "v1",
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  namespaced: false,
};
export const CSI_NODES: ResourceName = {
  apiVersion: "storage.k8s.io/v1",
  kind: "CSINode",
  plural: "csinodes",
  namespaced: false,
};
export const PRIORITY_CLASSES: ResourceName = {
  apiVersion: "scheduling.k8s.io/v1",
  kind: "PriorityClass",
  plural: "priorityclasses",
  namespaced: false,
};

export const ZONE = "topology.kubernetes.io/zone";
export const HOSTNAME = "kubernetes.io/hostname";

/** `zones`: labels in turn. */
export function node(at: number, zones: readonly string[] = ["zone1"]): core.Node {
  const name = `node-${at}`;
  const amounts = { cpu: "4", memory: "32Gi", pods: "110" };
  return {
    metadata: { name, labels: { [HOSTNAME]: name, [ZONE]: zones[at % zones.length] ?? "" } },
    status: {
      allocatable: amounts,
      capacity: amounts,
      conditions: [{ type: "Ready", status: "True", reason: "", message: "" }],
    },
  };
}

export function pod(
  name: string,
  spec: Partial<core.PodSpec> = {},
  labels: Readonly<Record<string, string>> = {},
): core.Pod {
  return {
    metadata: { name, namespace: "default", labels },
    spec: { containers: [container("100m", "500Mi")], terminationGracePeriodSeconds: 0, ...spec },
  };
}

export function container(cpu: string, memory: string): core.Container {
  return { name: "pause", image: "registry.k8s.io/pause:3.10.1", resources: { requests: { cpu, memory } } };
}

export function* several(count: number, make: (at: number) => KubeObject): Iterable<KubeObject> {
  for (let at = 0; at < count; at++) yield make(at);
}
