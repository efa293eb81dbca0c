/**
 * A node and what is on it, pods included that are only assumed to be there.
 *
 * 1. `generation` is another number after every change of the node or of its pods, and no two nodes ever have the same.
 * 2. Plugins only read. Who wants to know "what if" takes a `fork`, which no other sees.
 */
import type { core, Labels } from "#api";
import type { HostPort, PodInfo } from "./pod-info.ts";

/** Where these stand in the arrays; other resources follow as they are met. */
export const CPU = 0;
export const MEMORY = 1;
export const EPHEMERAL_STORAGE = 2;
export const PODS = 3;

export interface NodeInfo {
  /** Its place in everything that is kept by node. Given to another node once this one is gone. */
  readonly index: number;
  readonly name: string;
  readonly node: core.Node;
  readonly labels: Labels;
  readonly taints: readonly core.Taint[];
  readonly unschedulable: boolean;
  readonly generation: number;
  /** By uid. */
  readonly pods: ReadonlyMap<string, PodInfo>;
  /** By resource; what lies beyond the end is zero. */
  readonly allocatable: Float64Array;
  readonly requested: Float64Array;
  /** Sums of `NodeAsk.scored`. */
  readonly scoredCpu: number;
  readonly scoredMemory: number;
  /** By image name: its size in bytes. */
  readonly images: ReadonlyMap<string, number>;
  /** How many of its pods use a claim, by `namespace/name`. */
  readonly claims: ReadonlyMap<string, number>;
  /** Whether a port that a pod asks for is taken, addresses such as 0.0.0.0 considered. */
  isTaken(port: HostPort): boolean;
  fork(): ForkedNode;
}

export interface ForkedNode extends NodeInfo {
  add(pod: PodInfo): void;
  remove(pod: PodInfo): void;
}
