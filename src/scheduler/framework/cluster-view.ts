/**
 * The whole cluster as plugins see it: what the API server has told, and what this scheduler has assumed since.
 *
 * 1. Nothing changes during the synchronous part of an attempt.
 * 2. What is kept by node is an array with `nodes.length` places (at least); a place without a node holds zero, or -1.
 * 3. Counts follow every change by themselves. Ask for them anew at each attempt: arrays are replaced when the cluster grows.
 */
import type { Labels } from "#api";
import type { NodeInfo } from "./node-info.ts";
import type { PodInfo, PodSelector, PodTerm } from "./pod-info.ts";

export interface ClusterView {
  /** By index; undefined where no node is. */
  readonly nodes: readonly (NodeInfo | undefined)[];
  readonly nodeCount: number;
  /** Of the nodes, by index; 0 where no node is. */
  readonly generations: Float64Array;
  /** How often a node has changed, come or gone. */
  readonly changes: number;
  /** The indexes of the nodes that have changed since `changes` was this, some more than once; undefined: too many to tell. */
  changedSince(changes: number): Int32Array | undefined;
  nodeNamed(name: string): NodeInfo | undefined;
  /** The domain of each node under a topology key. */
  domains(topologyKey: string): Domains;
  /** How many pods on each node are meant. */
  counts(select: PodSelector, options?: { readonly terminating?: boolean }): Int32Array;
  /** How many pods on each node are meant by all of these at once. */
  countsOfAll(selects: readonly PodSelector[]): Int32Array;
  /** The terms of pods that are there and mean this pod, with the number of their owners on each node. */
  termsAbout(pod: PodInfo, kind: TermKind): readonly OwnedTerm[];
  matches(select: PodSelector, pod: PodInfo): boolean;
  /** On how many nodes an image is. */
  imageNodes(image: string): number;
  /** Another number once `imageNodes` or `nodeCount` may say something else. */
  readonly imagesGeneration: number;
  namespaceLabels(namespace: string): Labels | undefined;
  /** Pods that have a node promised to them, but are not there yet. */
  nominatedTo(node: string): readonly PodInfo[];
  /** The node that a pod has been promised, by its uid. */
  nominationOf(uid: string): string | undefined;
  /** Names of nodes that pods are nominated to. */
  nominatedNodes(): Iterable<string>;
}

export type TermKind = "required" | "requiredAnti" | "preferred";

export interface OwnedTerm {
  readonly term: PodTerm;
  /** Zero where the term is required. */
  readonly weight: number;
  readonly owners: Int32Array;
}

export interface Domains {
  /** By node: the number of its domain, or -1 where it does not have the label. */
  readonly of: Int32Array;
  /** Numbers are below this; not each has to have a node. */
  readonly size: number;
  /** The value of the label, by domain. */
  valueOf(domain: number): string;
}
