/** Builders of nodes and Pods for tables of cases. */
import type { core } from "#api";

type Text = Readonly<Record<string, string>>;

export interface NodeParts {
  readonly labels?: Text;
  /** Default: 4 cpus, 32Gi, 110 pods. */
  readonly allocatable?: Text;
  readonly taints?: readonly core.Taint[];
  readonly unschedulable?: boolean;
  /** Name to MB. */
  readonly images?: Readonly<Record<string, number>>;
}

const MB = 1024 * 1024;

export function node(name: string, parts: NodeParts = {}): core.Node {
  const allocatable = { cpu: "4", memory: "32Gi", pods: "110", ...parts.allocatable };
  const images = Object.entries(parts.images ?? {}).map(([image, size]) => ({ names: [image], sizeBytes: size * MB }));
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, uid: `node-${name}`, labels: { "kubernetes.io/hostname": name, ...parts.labels } },
    spec: { taints: parts.taints ?? [], unschedulable: parts.unschedulable ?? false },
    status: { allocatable, capacity: allocatable, images },
  };
}

export interface PodParts {
  readonly namespace?: string;
  readonly labels?: Text;
  /** The node it is on. */
  readonly on?: string;
  readonly requests?: Text;
  readonly image?: string;
  readonly hostPorts?: readonly number[];
  readonly spec?: Partial<core.PodSpec>;
  readonly metadata?: core.Pod["metadata"];
  readonly status?: core.PodStatus;
}

export function pod(name: string, parts: PodParts = {}): core.Pod {
  const { namespace = "default", labels = {}, requests, image = "web:1", hostPorts = [] } = parts;
  const container: core.Container = {
    name: "main",
    image,
    ...(requests === undefined ? {} : { resources: { requests } }),
    ...(hostPorts.length === 0
      ? {}
      : { ports: hostPorts.map((port) => ({ containerPort: port, hostPort: port, protocol: "TCP" as const })) }),
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, uid: `${namespace}-${name}`, labels, ...parts.metadata },
    spec: {
      containers: [container],
      schedulerName: "default-scheduler",
      ...(parts.on === undefined ? {} : { nodeName: parts.on }),
      ...parts.spec,
    },
    status: parts.status ?? { phase: parts.on === undefined ? "Pending" : "Running" },
  };
}

export function namespace(name: string, labels: Text = {}): core.Namespace {
  const own = { "kubernetes.io/metadata.name": name };
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, uid: `ns-${name}`, labels: { ...own, ...labels } } };
}

/** `n` Pods on a node, all with these labels. */
export function podsWith(labels: Text, on: string, n: number): core.Pod[] {
  return Array.from({ length: n }, (_, i) => pod(`${on}-${Object.values(labels).join("-")}-${i}`, { on, labels }));
}

export function term(
  labels: Text,
  topologyKey: string,
  more: Partial<core.PodAffinityTerm> = {},
): core.PodAffinityTerm {
  return { labelSelector: { matchLabels: labels }, topologyKey, ...more };
}
