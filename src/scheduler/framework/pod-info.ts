/**
 * A pod as the scheduler sees it: read once when it arrives, not at every node of every attempt.
 *
 * 1. Pods of one template share the parts that say what they want (`ask`, `labels`, `terms`, `spread`): the same object, not only an equal one.
 *    Nothing may depend on the sharing but speed.
 * 2. `ask` holds all that a single node is asked for. A stage that reads "node" gets it instead of the pod, and can so be remembered for all pods
 *    with the same ask.
 * 3. Amounts are whole numbers: cpu in thousandths, everything else in units, rounded up.
 */
import type { core, LabelMatcher, Labels } from "#api";

export interface PodInfo {
  readonly pod: core.Pod;
  readonly uid: string;
  /** `namespace/name`. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly priority: number;
  /** It has a deletionTimestamp. */
  readonly terminating: boolean;
  readonly ask: NodeAsk;
  readonly labels: LabelClass;
  readonly terms: PodTerms;
  /** The pod's own constraints; those that are there by default are the plugin's. */
  readonly spread: readonly SpreadConstraint[];
  /** `namespace/name` of the claims that it uses, those of generic ephemeral volumes included. */
  readonly claims: readonly string[];
}

/** What a pod asks of the one node it will run on. */
export interface NodeAsk {
  readonly nodeName: string;
  readonly priority: number;
  /** Sums of the pod by the rules for init containers, sidecars, pod-level resources and overhead; without those that are zero. */
  readonly requests: readonly Request[];
  /** The same with the usual amounts where cpu or memory are not asked for (100m, 200MB): for scores only. */
  readonly scored: { readonly cpu: number; readonly memory: number };
  readonly nodeSelector: Labels;
  readonly nodeAffinity: core.NodeAffinity | undefined;
  readonly tolerations: readonly core.Toleration[];
  readonly hostPorts: readonly HostPort[];
  /** Of containers, init containers and volumes, normalised (`:latest` where there is no tag). */
  readonly images: readonly string[];
  /** Containers and init containers: image scores are divided among them. Volumes do not take part in that. */
  readonly containers: number;
}

export interface Request {
  /** Where the resource stands in `NodeInfo.allocatable` and `requested`. */
  readonly resource: number;
  readonly name: string;
  readonly amount: number;
}

export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

/** Namespace and labels: all that selectors can ask about a pod. */
export interface LabelClass {
  readonly namespace: string;
  readonly labels: Labels;
}

/** Which pods are meant: in some namespaces, with some labels. */
export interface PodSelector {
  /** Equal selectors have equal keys. */
  readonly key: string;
  readonly namespaces: ReadonlySet<string>;
  /** Namespaces by their labels, beside those named. */
  readonly namespaceSelector: LabelMatcher;
  readonly selector: LabelMatcher;
}

export interface PodTerm {
  /** Of the selector and the topology key. */
  readonly key: string;
  readonly topologyKey: string;
  readonly select: PodSelector;
}

export interface WeightedPodTerm extends PodTerm {
  /** 1 to 100; below zero for anti-affinity. */
  readonly weight: number;
}

/** Affinity and anti-affinity to other pods. */
export interface PodTerms {
  readonly required: readonly PodTerm[];
  readonly requiredAnti: readonly PodTerm[];
  readonly preferred: readonly WeightedPodTerm[];
}

export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly hard: boolean;
  /** In the pod's own namespace. */
  readonly select: PodSelector;
  /** Count only nodes that the pod may be on by its node affinity. Default: true. */
  readonly honorsNodeAffinity: boolean;
  /** Count only nodes whose taints the pod tolerates. Default: false. */
  readonly honorsTaints: boolean;
}
