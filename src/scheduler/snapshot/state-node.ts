/** A node of the cluster state, and forks of it. */
import type { core, Labels } from "#api";
import { type ForkedNode, type HostPort, type NodeInfo, PODS, type PodInfo } from "../framework/index.ts";
import type { ResourceNames } from "./resource-names.ts";

const NO_LABELS: Labels = {};
const NO_TAINTS: readonly core.Taint[] = [];
const ANY_ADDRESS = "0.0.0.0";

export class StateNode implements ForkedNode {
  readonly index: number;
  readonly name: string;
  generation = 0;
  node: core.Node;
  labels: Labels = NO_LABELS;
  taints: readonly core.Taint[] = NO_TAINTS;
  unschedulable = false;
  allocatable: Float64Array = new Float64Array(PODS + 1);
  requested: Float64Array = new Float64Array(PODS + 1);
  scoredCpu = 0;
  scoredMemory = 0;
  images: ReadonlyMap<string, number> = new Map();
  readonly pods = new Map<string, PodInfo>();
  readonly claims = new Map<string, number>();
  /** By protocol and port: number of pods by address. */
  readonly #ports = new Map<string, Map<string, number>>();

  constructor(index: number, node: core.Node) {
    this.index = index;
    this.name = node.metadata.name ?? "";
    this.node = node;
  }

  /** Updates the Node object; the pods stay. */
  set(node: core.Node, names: ResourceNames): void {
    this.node = node;
    this.labels = node.metadata.labels ?? NO_LABELS;
    this.taints = node.spec?.taints ?? NO_TAINTS;
    this.unschedulable = node.spec?.unschedulable === true;
    this.allocatable = names.amounts(node.status?.allocatable);
    this.images = imagesOf(node);
  }

  add(pod: PodInfo): void {
    if (this.pods.has(pod.uid)) throw new Error(`the pod ${pod.key} is already on the node ${this.name}`);
    this.pods.set(pod.uid, pod);
    this.#use(pod, 1);
  }

  /** Replaces a pod whose resource usage is the same. */
  replace(pod: PodInfo): void {
    this.pods.set(pod.uid, pod);
  }

  /** Releases the resources that the pod had when it was added. */
  remove({ uid }: PodInfo): void {
    const pod = this.pods.get(uid);
    if (pod === undefined) return;
    this.pods.delete(uid);
    this.#use(pod, -1);
  }

  isTaken({ ip, protocol, port }: HostPort): boolean {
    const addresses = this.#ports.get(`${protocol}/${port}`);
    if (addresses === undefined) return false;
    return ip === ANY_ADDRESS || addresses.has(ip) || addresses.has(ANY_ADDRESS);
  }

  fork(): ForkedNode {
    const fork = new StateNode(this.index, this.node);
    fork.generation = this.generation;
    fork.labels = this.labels;
    fork.taints = this.taints;
    fork.unschedulable = this.unschedulable;
    fork.allocatable = this.allocatable;
    fork.images = this.images;
    fork.requested = this.requested.slice();
    fork.scoredCpu = this.scoredCpu;
    fork.scoredMemory = this.scoredMemory;
    for (const [uid, pod] of this.pods) fork.pods.set(uid, pod);
    for (const [claim, uses] of this.claims) fork.claims.set(claim, uses);
    for (const [port, addresses] of this.#ports) fork.#ports.set(port, new Map(addresses));
    return fork satisfies NodeInfo;
  }

  #use({ ask, claims }: PodInfo, sign: 1 | -1): void {
    for (const { resource, amount } of ask.requests) {
      if (resource >= this.requested.length) this.requested = longer(this.requested, resource + 1);
      this.requested[resource] = (this.requested[resource] ?? 0) + sign * amount;
    }
    this.requested[PODS] = this.pods.size;
    this.scoredCpu += sign * ask.scored.cpu;
    this.scoredMemory += sign * ask.scored.memory;
    for (const { ip, protocol, port } of ask.hostPorts) {
      const key = `${protocol}/${port}`;
      const addresses = this.#ports.get(key) ?? new Map<string, number>();
      count(addresses, ip, sign);
      if (addresses.size === 0) this.#ports.delete(key);
      else this.#ports.set(key, addresses);
    }
    for (const claim of claims) count(this.claims, claim, sign);
  }
}

export function count(counts: Map<string, number>, key: string, by: number): void {
  const next = (counts.get(key) ?? 0) + by;
  if (next <= 0) counts.delete(key);
  else counts.set(key, next);
}

/** Whether two host ports exclude each other on one node. */
export function portsConflict(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  return a.ip === b.ip || a.ip === ANY_ADDRESS || b.ip === ANY_ADDRESS;
}

function longer(array: Float64Array, length: number): Float64Array {
  const next = new Float64Array(length);
  next.set(array);
  return next;
}

function imagesOf({ status }: core.Node): ReadonlyMap<string, number> {
  const images = new Map<string, number>();
  for (const { names = [], sizeBytes = 0 } of status?.images ?? []) {
    for (const name of names) images.set(name, Number(sizeBytes));
  }
  return images;
}
