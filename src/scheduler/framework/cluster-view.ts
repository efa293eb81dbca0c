/**
 * The cluster as plugins see it: the state from the API server, and what this scheduler has assumed since.
 *
 * 1. It does not change during the synchronous part of an attempt.
 * 2. Arrays by node have at least `nodes.length` elements; an element without a node is zero or -1.
 * 3. Counts are updated in place, but arrays are replaced when the cluster grows: get them again in each attempt.
 */
import type { Labels } from "#api";
import type { NodeInfo } from "./node-info.ts";
import type { PodInfo, PodSelector, PodTerm } from "./pod-info.ts";

export interface ClusterView {
  /** By index; undefined at free indexes. */
  readonly nodes: readonly (NodeInfo | undefined)[];
  readonly nodeCount: number;
  /** Generations of the nodes by index; 0 at free indexes. */
  readonly generations: Float64Array;
  /** The number of node changes so far. */
  readonly changes: number;
  /** Indexes of the nodes changed since then, possibly repeated; undefined if the log does not reach back that far. */
  changedSince(changes: number): Int32Array | undefined;
  nodeNamed(name: string): NodeInfo | undefined;
  /** The topology domain of each node. */
  domains(topologyKey: string): Domains;
  /** Number of selected pods by node. */
  counts(select: PodSelector, options?: { readonly terminating?: boolean }): Int32Array;
  /** Number of pods by node that all of these select. */
  countsOfAll(selects: readonly PodSelector[]): Int32Array;
  /** Terms of placed pods that select this pod, with the number of their owners by node. */
  termsAbout(pod: PodInfo, kind: TermKind): readonly OwnedTerm[];
  matches(select: PodSelector, pod: PodInfo): boolean;
  /** Number of nodes with an image. */
  imageNodes(image: string): number;
  /** Changes when `imageNodes` or `nodeCount` may have changed. */
  readonly imagesGeneration: number;
  namespaceLabels(namespace: string): Labels | undefined;
  /** Pods that are nominated to a node, but not placed there yet. */
  nominatedTo(node: string): readonly PodInfo[];
  /** The node that a pod is nominated to, by uid of the pod. */
  nominationOf(uid: string): string | undefined;
  /** Names of nodes that pods are nominated to. */
  nominatedNodes(): Iterable<string>;
}

export type TermKind = "required" | "requiredAnti" | "preferred";

export interface OwnedTerm {
  readonly term: PodTerm;
  /** Zero for required terms. */
  readonly weight: number;
  readonly owners: Int32Array;
}

export interface Domains {
  /** By node: the number of its domain, or -1 without the label. */
  readonly of: Int32Array;
  /** Domain numbers are below this; some may be unused. */
  readonly size: number;
  /** The label value of a domain. */
  valueOf(domain: number): string;
}
