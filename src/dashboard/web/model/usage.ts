/** What nodes and Pods use, from metrics.k8s.io; and which Pods belong to a workload. */
import { quantity } from "./quantity.ts";

type Amounts = Readonly<Record<string, string>>;

export interface NodeMetrics {
  readonly metadata: { readonly name: string };
  readonly usage?: Amounts;
}

export interface PodMetrics {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly containers?: readonly { readonly usage?: Amounts }[];
}

export interface Round {
  readonly cpu: ReadonlyMap<string, number>;
  readonly memory: ReadonlyMap<string, number>;
}

/** By `name` of nodes, and `namespace/name` of Pods. */
export function roundOf(nodes: readonly NodeMetrics[], pods: readonly PodMetrics[]): Round {
  const cpu = new Map<string, number>();
  const memory = new Map<string, number>();
  for (const { metadata, usage } of nodes) {
    cpu.set(metadata.name, quantity(usage?.cpu));
    memory.set(metadata.name, quantity(usage?.memory));
  }
  for (const { metadata, containers = [] } of pods) {
    const key = `${metadata.namespace}/${metadata.name}`;
    const sum = (name: string) => containers.reduce((total, { usage }) => total + quantity(usage?.[name]), 0);
    cpu.set(key, sum("cpu"));
    memory.set(key, sum("memory"));
  }
  return { cpu, memory };
}

interface Owned {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly ownerReferences?: readonly { readonly uid?: string; readonly controller?: boolean }[];
  };
}

/** Keys of Pods by the uid of the workload at the top: a Deployment, not its ReplicaSet. */
export function podsByWorkload(pods: Iterable<Owned>, between: Iterable<Owned>): Map<string, string[]> {
  const ownerOf = (object: Owned) =>
    object.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
  const above = new Map(Array.from(between, (object) => [object.metadata.uid, ownerOf(object)]));
  const found = new Map<string, string[]>();
  for (const pod of pods) {
    const owner = ownerOf(pod);
    if (owner === undefined) continue;
    const top = above.get(owner) ?? owner;
    const key = `${pod.metadata.namespace}/${pod.metadata.name}`;
    const keys = found.get(top);
    if (keys === undefined) found.set(top, [key]);
    else keys.push(key);
  }
  return found;
}
