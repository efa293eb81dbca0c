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

export const NAMESPACES: ResourceName = {
  apiVersion: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
};
export const SERVICES: ResourceName = { apiVersion: "v1", kind: "Service", plural: "services", namespaced: true };

const DEVICES = { apiVersion: "resource.k8s.io/v1" };
export const DEVICE_CLASSES: ResourceName = {
  ...DEVICES,
  kind: "DeviceClass",
  plural: "deviceclasses",
  namespaced: false,
};
export const DEVICE_SLICES: ResourceName = {
  ...DEVICES,
  kind: "ResourceSlice",
  plural: "resourceslices",
  namespaced: false,
};
export const DEVICE_CLAIMS: ResourceName = {
  ...DEVICES,
  kind: "ResourceClaim",
  plural: "resourceclaims",
  namespaced: true,
};
export const DEVICE_TEMPLATES: ResourceName = {
  ...DEVICES,
  kind: "ResourceClaimTemplate",
  plural: "resourceclaimtemplates",
  namespaced: true,
};

export const ZONE = "topology.kubernetes.io/zone";
export const HOSTNAME = "kubernetes.io/hostname";

/** `zones`: labels in turn. */
export function node(at: number, zones: readonly string[] = ["zone1"]): core.Node {
  const name = `node-${at}`;
  return nodeWith(name, { cpu: "4", memory: "32Gi", pods: "110" }, { [ZONE]: zones[at % zones.length] ?? "" });
}

export function nodeWith(
  name: string,
  amounts: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>> = {},
): core.Node {
  return {
    metadata: { name, labels: { [HOSTNAME]: name, ...labels } },
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
  namespace = "default",
): core.Pod {
  return { metadata: { name, namespace, labels }, spec: { containers: [container("100m")], ...spec } };
}

export function container(cpu: string): core.Container {
  const amounts = { cpu, memory: "500Mi" };
  return { ...bareContainer, ports: [{ containerPort: 80 }], resources: { requests: amounts, limits: amounts } };
}

/** Asks for nothing. */
export const bareContainer: core.Container = { name: "pause", image: "registry.k8s.io/pause:3.10.1" };

export function* several(count: number, make: (at: number) => KubeObject): Iterable<KubeObject> {
  for (let at = 0; at < count; at++) yield make(at);
}
