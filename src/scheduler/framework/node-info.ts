/**
 * A node with its pods, including assumed ones.
 *
 * 1. `generation` changes with every change of the node or of its pods, and no two nodes ever have the same.
 * 2. Plugins only read. To try something out, they take a `fork`, which nobody else sees.
 */
import type { core, Labels } from "#api";
import type { HostPort, PodInfo } from "./pod-info.ts";

/** Positions in the arrays of amounts; other resources follow in the order in which they are first seen. */
export const CPU = 0;
export const MEMORY = 1;
export const EPHEMERAL_STORAGE = 2;
export const PODS = 3;

export interface NodeInfo {
  /** Its position in all arrays by node. Reused after the node is removed. */
  readonly index: number;
  readonly name: string;
  readonly node: core.Node;
  readonly labels: Labels;
  readonly taints: readonly core.Taint[];
  readonly unschedulable: boolean;
  readonly generation: number;
  /** By uid. */
  readonly pods: ReadonlyMap<string, PodInfo>;
  /** By resource; amounts beyond the end are zero. */
  readonly allocatable: Float64Array;
  readonly requested: Float64Array;
  /** Sums of `NodeAsk.scored`. */
  readonly scoredCpu: number;
  readonly scoredMemory: number;
  /** Size in bytes by image name. */
  readonly images: ReadonlyMap<string, number>;
  /** Number of pods that use a claim, by `namespace/name`. */
  readonly claims: ReadonlyMap<string, number>;
  /** Whether a host port conflicts with one in use; 0.0.0.0 conflicts with every address. */
  isTaken(port: HostPort): boolean;
  fork(): ForkedNode;
}

export interface ForkedNode extends NodeInfo {
  add(pod: PodInfo): void;
  remove(pod: PodInfo): void;
}
